package page

import (
	"encoding/json"
	"fmt"
	"strings"
)

// View is everything the queue page shows.
type View struct {
	Room    string // the room's name
	Title   string // what visitors read
	Message string // the operator's words
	Target  string // where the visitor wants to go
	// Standing is nil while the visitor has no place.
	Standing *Standing
	// Notice is one sentence about what just happened, such as a place that expired.
	Notice string
}

// Standing is where the visitor stands when the page is made.
type Standing struct {
	State       string // waiting, admitted or active
	Position    int64
	Ahead       int64
	LowS, HighS int64 // the wait, seconds
	ClaimByS    int64
}

// NoticeView is a page that says one thing.
type NoticeView struct{ Title, Text string }

// RefreshS is how often the page looks again without script, in seconds.
const RefreshS = 20

// CSP allows what the page is made of and nothing else. A form may lead to hosts, because
// browsers hold the redirect after it to the same rule.
func CSP(hosts ...string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"form-action " + strings.Join(append([]string{"'self'"}, hosts...), " ") + "; base-uri 'none'; frame-ancestors 'none'"
}

// Wait says a range of seconds in words. queue.js says the same.
func Wait(low, high int64) string {
	if high < 60 {
		return "less than a minute"
	}
	a, b := max(1, low/60), (high+59)/60
	switch {
	case b > 180:
		h := max(1, low/3600)
		return fmt.Sprintf("about %d to %d hours", h, max(h+1, (high+3599)/3600))
	case a == b && a == 1:
		return "about a minute"
	case a >= b:
		return fmt.Sprintf("about %d minutes", b)
	}
	return fmt.Sprintf("about %d to %d minutes", a, b)
}

// number groups thousands.
func number(n int64) string {
	s := fmt.Sprint(n)
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, parts...), ",")
}

func (v View) state() string {
	if v.Standing == nil {
		return "new"
	}
	return v.Standing.State
}

// standingJSON is what the script begins with.
func (v View) standingJSON() string {
	if v.Standing == nil {
		return ""
	}
	out, err := json.Marshal(map[string]any{
		"state": v.Standing.State, "position": v.Standing.Position, "ahead": v.Standing.Ahead,
		"eta":        map[string]int64{"low_s": v.Standing.LowS, "high_s": v.Standing.HighS},
		"claim_by_s": v.Standing.ClaimByS,
	})
	if err != nil {
		return ""
	}
	return string(out)
}

func (v View) documentTitle() string {
	if v.Standing != nil && v.Standing.State == "waiting" {
		return number(v.Standing.Position) + " in line · " + v.Title
	}
	return "Waiting room · " + v.Title
}
