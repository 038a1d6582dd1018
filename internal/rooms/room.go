package rooms

import (
	"time"

	"github.com/anteroom/anteroom/internal/match"
	"github.com/anteroom/anteroom/queue"
)

// OnStoreError says what a room does while Redis is away.
type OnStoreError string

// The choices of on_store_error.
const (
	Hold  OnStoreError = "hold"  // nobody new enters
	Admit OnStoreError = "admit" // people enter without waiting
)

// Room is one room as the rooms file describes it. In the file the fields are called
// name, title, capacity and so on; deploy/rooms.example.yaml shows all of them.
type Room struct {
	Name        string        // [a-z0-9][a-z0-9-]{0,62}, unique
	Title       string        // shown to visitors, at most 80 characters; default: the name
	Capacity    int           // people inside at once, 1 to 10,000,000
	Rate        Rate          // admissions, such as 600/m, 2/s, 30000/h
	Burst       int           // admissions on one instant after idle time; default 1
	Session     time.Duration // how long a claimed turn lasts; default 10m
	ClaimWindow time.Duration // time to claim a turn; default 2m
	Heartbeat   time.Duration // silence after which a turn passes to the next; default 30s, at least 5s
	KeepPlace   time.Duration // silence after which the place is lost; default 10m
	Targets     []string      // hosts (host or host:port) that visitors may be sent to
	Default     string        // default_target: where a visitor goes without a target: a path, or a URL on a listed host; default /
	OnStore     OnStoreError  // on_store_error: hold or admit; default hold
	Message     string        // shown to everyone in the line, at most 280 characters
	State       State         // open, paused or closed; default open
	Opens       time.Time     // before it the room is not open; zero = it is
	Theme       Theme         // how the pages look and speak
	Resume      bool          // a place may move to another device; default true
	Proof       int           // proof: hashes of work, at most, before a place is given; 0 = none
	MaxWaiting  int           // people in the line above which the room is full; 0 = no limit
	Enabled     bool          // false: the gate lets everybody through; default true
	Match       []match.Rule  // what the room protects
	Exempt      match.Exemption
	Renew       Renew         // whether being active extends a session; default sliding
	MaxSession  time.Duration // the most that a sliding session lasts in all; default 1h, or session where that is longer
	Origin      string        // the site behind a room that proxies, http or https
	QueueStatus int           // queue_status: of the queue page shown in the site's place, 200 or 503; default 200
}

// Renew says whether being active extends a session.
type Renew string

// The choices of renew.
const (
	RenewSliding Renew = "sliding" // each request extends it to a session from now, up to max_session
	RenewFixed   Renew = "fixed"   // it ends a session after the claim, whatever happens
)

// Matcher finds the room of an address.
func Matcher(all []Room) (*match.Matcher, error) {
	var entries []match.Entry
	for _, r := range all {
		for _, rule := range r.Match {
			entries = append(entries, match.Entry{Room: r.Name, Rule: rule})
		}
	}
	return match.New(entries)
}

// State says what a room does with people.
type State string

// The states of a room. The first three are those of the rooms file.
const (
	IsOpen  State = "open"
	Paused  State = "paused"   // people may join, nobody is let in
	Closed  State = "closed"   // nobody joins, nobody is let in; who waits keeps the place
	NotOpen State = "not_open" // before its time: as closed
)

// StateAt is the state at a moment of this machine's clock.
func (r Room) StateAt(now time.Time) State {
	if r.State == IsOpen && now.Before(r.Opens) {
		return NotOpen
	}
	return r.State
}

// Queue is the room as the line knows it now.
func (r Room) Queue() queue.Room { return queue.Room{Name: r.Name, Rules: r.Rules()} }

// Rules are the settings that the line needs.
func (r Room) Rules() queue.Rules {
	return queue.Rules{
		Capacity: r.Capacity, Interval: r.Rate.Interval(), Burst: r.Burst, Session: r.Session,
		ClaimWindow: r.ClaimWindow, Heartbeat: r.Heartbeat, KeepPlace: r.KeepPlace,
		Hold: r.StateAt(time.Now()) != IsOpen,
	}
}

// Display is the title, or the name where there is none.
func (r Room) Display() string {
	if r.Title != "" {
		return r.Title
	}
	return r.Name
}

// Demo is the room before the demo shop on hosts: small, so that a few people see a line.
func Demo(hosts ...string) Room {
	r := Room{
		Name: "demo", Title: "The Lantern Sessions", Capacity: 3, Rate: Rate{Count: 12, Per: time.Minute},
		Session: 2 * time.Minute, ClaimWindow: 30 * time.Second, Targets: hosts,
		Message: "Tickets for all three evenings are on sale, up to four a person.",
	}
	r.Enabled, r.Exempt.Assets, r.Resume = true, true, true
	r.setDefaults()
	return r
}

// setDefaults fills in what was not given. Enabled and Exempt.Assets are on unless the
// file says otherwise; the reader begins with them.
func (r *Room) setDefaults() {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&r.Session, 10 * time.Minute}, {&r.ClaimWindow, 2 * time.Minute},
		{&r.Heartbeat, 30 * time.Second}, {&r.KeepPlace, 10 * time.Minute},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if r.Burst == 0 {
		r.Burst = 1
	}
	if r.OnStore == "" {
		r.OnStore = Hold
	}
	if r.Default == "" {
		r.Default = "/"
	}
	if r.State == "" {
		r.State = IsOpen
	}
	if r.Renew == "" {
		r.Renew = RenewSliding
	}
	if r.MaxSession == 0 {
		r.MaxSession = max(time.Hour, r.Session)
	}
	if r.QueueStatus == 0 {
		r.QueueStatus = 200
	}
}
