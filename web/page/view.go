package page

import (
	"encoding/json"
	"strings"
)

// View is everything the queue page shows. All text is escaped where it is written.
type View struct {
	Room    string // the room's name, part of the addresses that the page calls
	Title   string // what visitors read
	Message string // the operator's words
	Target  string // where the visitor wants to go
	Lang    string // language of the words, default "en"
	// Standing is nil while the visitor has no place.
	Standing *Standing
	// Status says what became of an earlier place while Standing is nil: "expired", "left",
	// or "done" for somebody who was inside. The page then waits for the visitor to join
	// again; otherwise its script joins at once.
	Status string
	// Notice is one sentence about what has just happened.
	Notice string
	// Problem is one sentence about what does not work now, such as that the line is out
	// of reach. Without a standing the page then offers no place and tries again.
	Problem string
	// RefreshS is how often the page looks again without script, in seconds; at least and
	// by default MinRefreshS.
	RefreshS int
}

// MinRefreshS is the shortest refresh without script, in seconds: a shorter one takes the
// focus away from people who use assistive tools.
const MinRefreshS = 20

// Standing is where the visitor stands when the page is made.
type Standing struct {
	// State is waiting, admitted, active, away, expired, left, closed or not_open.
	State       string
	Position    int64 // 1 is next, 0 is not known
	Ahead       int64 // people
	LowS, HighS int64 // the wait, seconds; both 0 when it is not known
	ClaimByS    int64 // how long the turn is kept, seconds
}

// NoticeView is a page that says one thing.
type NoticeView struct{ Title, Text, Lang string }

// The states that the page itself adds to those of a standing.
const (
	stateNew     = "new"     // no place yet
	stateTrouble = "trouble" // no standing, because something is out of reach
)

// state picks what the page shows. A state that this page does not know is trouble: the
// script asks again.
func (v View) state() string {
	s := v.Status
	if v.Standing != nil {
		s = v.Standing.State
	}
	switch {
	case s == "" && v.Problem != "":
		return stateTrouble
	case s == "":
		return stateNew
	case v.waiting(s), v.turn(s), english[s+"_title"] != "":
		return s
	}
	return stateTrouble
}

func (View) waiting(state string) bool { return state == "waiting" }
func (View) turn(state string) bool    { return state == "admitted" || state == "active" }

// says reports whether the state is told in words alone, and offers whether it comes with
// the form that joins.
func (v View) says() bool { return !v.waiting(v.state()) && !v.turn(v.state()) }

func (v View) offers() bool {
	s := v.state()
	return s == stateNew || s == "expired" || s == "left" || s == "done"
}

// loops reports whether the site sends the visitor back: words of advice, with the button.
func (v View) loops() bool { return v.state() == "loop" }

// awaits reports whether a turn is to come, so that the page says what happens until then.
func (v View) awaits() bool {
	s := v.state()
	return v.waiting(s) || s == stateNew || s == "away" || s == stateTrouble
}

func (v View) sayText() string {
	if v.state() == stateTrouble && v.Problem != "" {
		return v.Problem
	}
	return v.word(v.state() + "_text")
}

// placed reports whether there is a place that could be left.
func (v View) placed() bool { return v.waiting(v.state()) || v.turn(v.state()) || v.state() == "away" }

// refreshS is 0 where a refresh would only disturb: nothing changes by itself there.
func (v View) refreshS() int {
	if v.offers() || v.turn(v.state()) || v.loops() {
		return 0
	}
	return max(MinRefreshS, v.RefreshS)
}

// standing is the first answer of the script, as the API would give it.
func (v View) standing() string {
	if v.Standing == nil {
		return ""
	}
	s := map[string]any{
		"state": v.Standing.State, "position": v.Standing.Position, "ahead": v.Standing.Ahead, "claim_by_s": v.Standing.ClaimByS,
		"notice": v.Notice,
	}
	if v.Standing.HighS > 0 {
		s["eta"] = map[string]int64{"low_s": v.Standing.LowS, "high_s": v.Standing.HighS}
	}
	out, err := json.Marshal(s)
	if err != nil {
		return "" // numbers and strings always marshal
	}
	return string(out)
}

func (v View) documentTitle() string {
	s := v.state()
	switch {
	case v.waiting(s) && v.Standing.Position > 0:
		return v.word("place_title", "n", number(v.Standing.Position)) + " · " + v.Title
	case v.turn(s):
		return v.word("turn_title") + " · " + v.Title
	}
	return v.word("room") + " · " + v.Title
}

// CSP is the Content-Security-Policy of every page here: what the page is made of and
// nothing else. A form may lead to hosts (host or host:port), because browsers hold the
// redirect that follows it to the same rule. A host that could end the directive is left out.
func CSP(hosts ...string) string {
	action := "'self'"
	for _, h := range hosts {
		if h != "" && !strings.ContainsFunc(h, notInHost) {
			action += " " + h
		}
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"form-action " + action + "; base-uri 'none'; frame-ancestors 'none'"
}

func notInHost(c rune) bool {
	letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	return !letter && !strings.ContainsRune(".-_:/[]", c)
}
