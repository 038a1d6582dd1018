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
	Lang    string // language of the words, one of Languages; default "en"
	Theme   Theme
	// Standing is nil while nothing is known of the visitor.
	Standing *Standing
	// Status says what became of an earlier place while Standing is nil: "expired", "left",
	// "moved", "loop", or "done" for somebody who was inside. The page then waits for the
	// visitor to join again; otherwise its script joins at once.
	Status string
	// Notice is one sentence about what has just happened: a key of the words, or text.
	Notice string
	// Problem is one sentence about what does not work now: a key of the words, or text.
	// Without a standing the page then offers no place and tries again.
	Problem string
	// RefreshS is how often the page looks again without script, in seconds; at least and
	// by default MinRefreshS.
	RefreshS int
	// KeepS is for how long the place is kept in silence, in seconds.
	KeepS int64
	// Proof says that joining needs a solved challenge, which takes a script.
	Proof bool
	// Resume offers to take the place to another device.
	Resume bool
	// Still shows the page for looking at: its script does nothing.
	Still bool
}

// MinRefreshS is the shortest refresh without script, in seconds: a shorter one takes the
// focus away from people who use assistive tools.
const MinRefreshS = 20

// Standing is where the visitor stands when the page is made.
type Standing struct {
	// State is waiting, admitted, active, away, expired, left, or one of the room: paused,
	// closed, not_open, full.
	State       string
	Position    int64 // 1 is next, 0 is not known, or no place
	Ahead       int64 // people
	LowS, HighS int64 // the wait, seconds; both 0 when it is not known
	ClaimByS    int64 // how long the turn is kept, seconds
	OpensInS    int64 // how long until the room opens, seconds
	Near        bool  // the turn is surely within a minute
}

// Theme is how a room's pages look and speak besides the built-in way.
type Theme struct {
	Logo   string            // address of a picture
	Styles []string          // addresses of stylesheets, after the built-in one
	Texts  map[string]string // words that are replaced, by their key
}

// NoticeView is a page that says one thing.
type NoticeView struct {
	Title, Text, Lang string
	Theme             Theme
}

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
	case s == "waiting", v.turn(s), HasWord(s + "_title"):
		return s
	}
	return stateTrouble
}

// waiting reports whether a place in line is shown, in whatever state the room is.
func (v View) waiting(state string) bool {
	return state == "waiting" || v.Standing != nil && v.Standing.Position > 0 && HasWord("wait_"+state)
}

func (View) turn(state string) bool { return state == "admitted" || state == "active" }

// says reports whether the state is told in words alone, and offers whether it comes with
// the form that joins.
func (v View) says() bool { return !v.waiting(v.state()) && !v.turn(v.state()) }

func (v View) offers() bool {
	s := v.state()
	return s == stateNew || s == "expired" || s == "left" || s == "done"
}

// loops reports whether the site sends the visitor back: words of advice, with the button.
func (v View) loops() bool { return v.state() == "loop" }

// rests reports whether nothing changes any more by itself.
func (v View) rests() bool { return v.offers() || v.loops() || v.state() == "moved" }

// awaits reports whether a turn is to come, so that the page says what happens until then.
func (v View) awaits() bool {
	s := v.state()
	return v.waiting(s) || s == stateNew || s == "away" || s == stateTrouble
}

func (v View) sayText() string {
	if v.state() == stateTrouble && v.Problem != "" {
		return v.told(v.Problem)
	}
	return v.word(v.state() + "_text")
}

// placed reports whether there is a place that could be left.
func (v View) placed() bool { return v.waiting(v.state()) || v.turn(v.state()) || v.state() == "away" }

func (v View) opening() bool { return v.state() == "not_open" && v.Standing.OpensInS > 0 }

// direction is in which way the language is written.
func direction(v View) string {
	if v.speaks().RTL {
		return "rtl"
	}
	return "ltr"
}

func (v View) near() bool {
	return v.state() == "waiting" && v.Standing.Near && v.Standing.Position > 0
}

// refreshS is 0 where a refresh would only disturb: nothing changes by itself there.
func (v View) refreshS() int {
	if v.Still || v.rests() || v.turn(v.state()) {
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
		"opens_in_s": v.Standing.OpensInS, "near": v.Standing.Near, "keep_s": v.KeepS,
	}
	if v.Notice != "" {
		s["notice"] = v.told(v.Notice)
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
		return v.fill("place_title", map[string]any{"n": v.Standing.Position}) + " · " + v.Title
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

// WithImages lets a policy of CSP take pictures from one more https origin, a room's logo's.
func WithImages(policy, host string) string {
	if host == "" || strings.ContainsFunc(host, notInHost) {
		return policy
	}
	return strings.Replace(policy, "img-src 'self' data:", "img-src 'self' data: https://"+host, 1)
}

func notInHost(c rune) bool {
	letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	return !letter && !strings.ContainsRune(".-_:/[]", c)
}
