package page

import "slices"

// canned are all states that a visitor can see, with invented data, in the order in which
// most see them.
var canned = []struct {
	name string
	view View
}{
	{"new", View{}},
	{"joining", View{Status: "joining"}},
	{"waiting", inLine(1204, 840, 1080)},
	{"near", View{Standing: &Standing{State: "waiting", Position: 4, Ahead: 3, LowS: 10, HighS: 50, Near: true}}},
	{"next", inLine(1, 0, 90)},
	{"turn", View{Standing: &Standing{State: "admitted", ClaimByS: 105}}},
	{"inside", View{Standing: &Standing{State: "active"}}},
	{"not_open", View{Standing: &Standing{State: "not_open", OpensInS: 2*3600 + 14*60}}},
	{"paused", View{Standing: &Standing{State: "paused", Position: 1204, Ahead: 1203}}},
	{"closed", View{Standing: &Standing{State: "closed"}}},
	{"full", View{Standing: &Standing{State: "full"}}},
	{"away", View{Standing: &Standing{State: "away"}}},
	{"reforming", View{Standing: &Standing{State: "waiting"}, Notice: "reforming"}},
	{"lost", View{Standing: &Standing{State: "waiting", Position: 318, Ahead: 317, LowS: 240, HighS: 420}, Problem: "store_away"}},
	{"trouble", View{Problem: "store_away"}},
	{"cookies", View{Status: "cookies"}},
	{"no_cookies", View{Standing: inLine(318, 240, 420).Standing, Problem: "no_cookies"}},
	{"expired", View{Status: "expired"}},
	{"left", View{Status: "left"}},
	{"done", View{Status: "done"}},
	{"moved", View{Status: "moved"}},
	{"loop", View{Status: "loop"}},
}

func inLine(position, low, high int64) View {
	return View{Standing: &Standing{State: "waiting", Position: position, Ahead: position - 1, LowS: low, HighS: high}}
}

// PreviewStates are the names of the states that Preview knows.
func PreviewStates() []string {
	names := make([]string, len(canned))
	for i, c := range canned {
		names[i] = c.name
	}
	return names
}

// Preview is base, which has a room's name, title, message, language and look, in a state
// with invented data; its script does nothing. It reports false for a state that there is not.
func Preview(base View, state string) (View, bool) {
	i := slices.IndexFunc(canned, func(c struct {
		name string
		view View
	}) bool {
		return c.name == state
	})
	if i < 0 {
		return View{}, false
	}
	c := canned[i].view
	base.Standing, base.Status, base.Notice, base.Problem, base.Still = c.Standing, c.Status, c.Notice, c.Problem, true
	return base, true
}
