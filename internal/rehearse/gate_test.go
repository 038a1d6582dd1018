package rehearse

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const walkers = 100

// throughGate is a crowd that walks through a gate.
func throughGate(g *fakeGate, pages ...string) Config {
	c := small(&network{handler: g})
	c.URLs, c.Room, c.Probe, c.Visitors = nil, "", 0.5, walkers
	if len(pages) == 0 {
		pages = []string{"http://" + shopHost + wanted}
	}
	c.Through = pages
	return c
}

func TestACrowdWalksThroughTheGate(t *testing.T) {
	t.Parallel()
	for _, as := range []integration{forwardAuth, inPlace, otherDomain} {
		for _, mute := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				g := newGate(as, sound)
				g.mute = mute
				r := mustRun(t, throughGate(g, "http://"+shopHost+wanted, "http://"+shopHost+"/b%2Fc/%C3%A9?q=%2f%2F&target=%2Fr%2Fsale&"))
				if len(r.Broken) > 0 {
					t.Fatalf("%s: broken: %q\n%+v", as, r.Broken, r.Gate)
				}
				inside := r.Ended.Served
				if r.Joined != walkers || r.Gate.Entered != inside || inside < 60 || r.Gate.Visits < inside*7/4 || r.Gate.Returned < inside/3 {
					t.Errorf("%s: joined %d, served %d, gate %+v: want all, most, all of them, half of them thrice, and about half", as, r.Joined, inside, r.Gate)
				}
				if r.Room != "sale" || r.CapacityFrom != "status" || r.HighestInside < 9 {
					t.Errorf("%s: room %q, capacity from %q, highest inside %d", as, r.Room, r.CapacityFrom, r.HighestInside)
				}
				if len(g.refused) > 0 || len(r.Faults) > 0 {
					t.Errorf("%s: no browser sends %q; faults %v", as, g.refused[:min(3, len(g.refused))], r.Faults)
				}
			})
		}
	}
}

func TestEachFlawOfAGateIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		as     integration
		flaw   flaw
		broken []string // begins
	}{
		{forwardAuth, blurring, []string{"nothing of the address is lost: "}},
		{otherDomain, dropping, []string{"nothing of the address is lost: "}},
		{otherDomain, unclean, []string{"nothing of the address is lost: "}},
		{inPlace, barring, []string{"nobody is lost: 0 were told to join again, 0 were not through at the end, ", "a pass opens the shop: "}},
		{otherDomain, barring, []string{"nobody is lost: ", "a pass opens the shop: "}},
		{forwardAuth, evicting, []string{"a pass opens the shop: "}},
		{otherDomain, tardy, []string{"who left is out: "}},
		{inPlace, lingering, []string{"who left is out: "}},
		{forwardAuth, straight, []string{"nobody passes the line: "}},
		{otherDomain, forgetful, []string{"nobody is lost: "}},
		{inPlace, kicking, []string{"nobody is lost: "}},
		{otherDomain, closedShop, []string{"nobody is lost: "}},
		{forwardAuth, looping, []string{"nobody is lost: "}},
	} {
		t.Run(string(c.flaw)+", "+string(c.as), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := mustRun(t, throughGate(newGate(c.as, c.flaw)))
				if len(r.Broken) != len(c.broken) {
					t.Fatalf("broken: %q, want %q", r.Broken, c.broken)
				}
				for i, want := range c.broken {
					if !strings.HasPrefix(r.Broken[i], want) {
						t.Errorf("broken: %q, want %q", r.Broken[i], want)
					}
				}
				var text strings.Builder
				_ = r.Text(&text)
				if gate := r.LostQuery + r.ThrownOut + r.StillIn + r.NeverQueued; gate > 0 && !strings.Contains(text.String(), ": wanted "+wanted+", ") {
					t.Errorf("no evidence in the report:\n%s", &text)
				}
			})
		})
	}
}

func TestStraightInMayBeAllowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := throughGate(newGate(forwardAuth, straight))
		c.AllowStraight = true
		r := mustRun(t, c)
		if len(r.Broken) > 0 || r.NeverQueued == 0 || r.NeverQueued+r.Joined != walkers {
			t.Errorf("broken %q, never queued %d, joined %d", r.Broken, r.NeverQueued, r.Joined)
		}
	})
}

// A room that is off names no capacity; the run says that nobody queued.
func TestNoGateAtAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := throughGate(nil)
		c.Transport = &network{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })}
		r := mustRun(t, c)
		if len(r.Broken) != 1 || r.NeverQueued != walkers || r.CapacityFrom != "nowhere" {
			t.Errorf("broken %q, never queued %d, capacity from %q", r.Broken, r.NeverQueued, r.CapacityFrom)
		}
	})
}

// Page loads that fail are repeated, and a hand-over whose answer was lost is no breach.
func TestFaultsAtTheGateBreakNothing(t *testing.T) {
	t.Parallel()
	for _, as := range []integration{forwardAuth, inPlace, otherDomain} {
		synctest.Test(t, func(t *testing.T) {
			c := throughGate(newGate(as, sound))
			c.Transport = &network{handler: newGate(as, sound), hook: func(n int, _ *http.Request) (bool, error) {
				switch {
				case n > 10 && n%20 == 0:
					return true, errTorn
				case n > 10 && n%20 == 7:
					return false, errBusy
				}
				return true, nil
			}}
			r := mustRun(t, c)
			if len(r.Broken) > 0 || r.Faults["connection reset"] == 0 || r.Faults["http 503"] == 0 {
				t.Errorf("%s: broken %q, faults %v, %+v", as, r.Broken, r.Faults, r.Gate)
			}
		})
	}
}

func TestWhatCannotBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page := "http://" + shopHost + "/"
		for name, change := range map[string]func(*Config){
			"another room": func(c *Config) { c.Room = "other" },
			"no page":      func(c *Config) { c.Through = []string{page, "http://nowhere.test/"} },
			"two rooms": func(c *Config) {
				c.Through = []string{page, "http://two.test/"}
				c.Transport = &network{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = w.Write([]byte(`<main id="queue" data-room="` + r.URL.Host[:3] + `">`))
				})}
			},
		} {
			c := throughGate(newGate(inPlace, sound))
			change(&c)
			if _, err := Run(t.Context(), c, new(strings.Builder)); err == nil {
				t.Errorf("%s: it began", name)
			}
		}
	})
}

// A wiped store cannot know who left; all else must hold.
func TestAWipeExcusesOnlyPassesOfPeopleWhoLeft(t *testing.T) {
	t.Parallel()
	g := Gate{LostQuery: 1, ThrownOut: 1, StillIn: 1, NeverQueued: 1}
	for rules, want := range map[Rules]int{{}: 4, {AllowOver: 1}: 3, {AllowStraight: true}: 3, {AllowOver: 1, AllowStraight: true}: 2} {
		if got := g.broken(rules); len(got) != want {
			t.Errorf("%+v: %q, want %d", rules, got, want)
		}
	}
}

func TestJudgeGate(t *testing.T) {
	t.Parallel()
	visit := func(why Reason, at time.Duration, shop bool, got string) Visit {
		return Visit{Sent: at, Answered: at + sec/10, Why: why, AtShop: shop, Asked: "/a?b", Got: got}
	}
	inside := with(at(1, 2), func(v *Visitor) { v.Release = Span{62 * sec, 63 * sec} }) // claimed at 2.1 s for 60 s
	for name, c := range map[string]struct {
		visits []Visit
		want   Gate
	}{
		"all well":                     {[]Visit{visit(Entry, 3*sec, true, "/a?b"), visit(Stay, 9*sec, true, "/a?b"), visit(Return, 65*sec, false, "")}, Gate{Entered: 1, Visits: 2, Returned: 1}},
		"another query, twice":         {[]Visit{visit(Entry, 3*sec, true, "/a"), visit(Stay, 9*sec, true, "/a?b=")}, Gate{Entered: 1, Visits: 2, LostQuery: 1}},
		"out while inside":             {[]Visit{visit(Entry, 3*sec, true, "/a?b"), visit(Stay, 9*sec, false, "")}, Gate{Entered: 1, Visits: 2, ThrownOut: 1}},
		"out as the session may end":   {[]Visit{visit(Entry, 3*sec, true, "/a?b"), visit(Stay, 61*sec, false, "")}, Gate{Entered: 1, Visits: 2}},
		"not let in":                   {[]Visit{visit(Entry, 3*sec, false, "")}, Gate{Visits: 1, ThrownOut: 1}},
		"not let in by a used token":   {[]Visit{{Sent: 3 * sec, Answered: 4 * sec, Why: Entry, Repeated: true}}, Gate{Visits: 1}},
		"still in at once":             {[]Visit{visit(Return, 64*sec, true, "/a?b")}, Gate{Returned: 1}},
		"still in after the grace":     {[]Visit{visit(Return, 65*sec, true, "/a?b")}, Gate{Returned: 1, StillIn: 1}},
		"straight in":                  {[]Visit{visit(Arrival, sec, true, "/a?b")}, Gate{NeverQueued: 1}},
		"an arrival that is sent away": {[]Visit{visit(Arrival, sec, false, "")}, Gate{}},
	} {
		p := inside
		p.Visits = c.visits
		got := judgeGate(History{p})
		if n := got.LostQuery + got.ThrownOut + got.StillIn + got.NeverQueued; len(got.Examples) != n {
			t.Errorf("%s: %d examples of %d breaches", name, len(got.Examples), n)
		}
		got.Examples = nil
		if got.Entered != c.want.Entered || got.Visits != c.want.Visits || got.Returned != c.want.Returned || got.LostQuery != c.want.LostQuery ||
			got.ThrownOut != c.want.ThrownOut || got.StillIn != c.want.StillIn || got.NeverQueued != c.want.NeverQueued {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
