package page

import (
	"bytes"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"
)

func render(t *testing.T, c templ.Component) (*html.Node, string) {
	t.Helper()
	var out bytes.Buffer
	if err := c.Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	root, err := html.ParseWithOptions(bytes.NewReader(out.Bytes()), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	return root, out.String()
}

// all finds the elements that match.
func all(root *html.Node, match func(*html.Node) bool) (found []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && match(n) {
			found = append(found, n)
		}
	}
	return found
}

func byID(t *testing.T, root *html.Node, id string) *html.Node {
	t.Helper()
	found := all(root, func(n *html.Node) bool { return attr(n, "id") == id })
	if len(found) != 1 {
		t.Fatalf("%d elements have the id %q, want 1", len(found), id)
	}
	return found[0]
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// text is what is shown of an element, when it is shown itself.
func text(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !hiddenWithin(d, n) {
			out.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func hiddenWithin(n, top *html.Node) bool {
	for ; n != top; n = n.Parent {
		if n.Type == html.ElementNode && has(n, "hidden") {
			return true
		}
	}
	return false
}

// shown reports whether neither the element nor one around it is hidden.
func shown(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.Type == html.ElementNode && has(n, "hidden") {
			return false
		}
	}
	return true
}

func refreshes(root *html.Node) []*html.Node {
	return all(root, func(n *html.Node) bool { return n.Data == "meta" && attr(n, "http-equiv") == "refresh" })
}

func waitingView() View {
	return View{
		Room: "sale", Title: "Winter sale", Message: "Doors at eight.", Target: "https://shop.test/a?b=1&c=2",
		Standing: &Standing{State: "waiting", Position: 1204, Ahead: 1203, LowS: 250, HighS: 420},
	}
}

func TestPageShowsEachState(t *testing.T) {
	t.Parallel()
	with := func(change func(*View)) View {
		v := View{Room: "sale", Title: "Winter sale"}
		change(&v)
		return v
	}
	stands := func(state string) View {
		return with(func(v *View) { v.Standing = &Standing{State: state, ClaimByS: 30} })
	}
	for name, c := range map[string]struct {
		view                    View
		panel, title, says      string
		joins, leaves, refreshs bool
	}{
		"new":        {with(func(*View) {}), "say", "Waiting room · Winter sale", "Take a place", true, false, false},
		"expired":    {with(func(v *View) { v.Status = "expired" }), "say", "Waiting room", "Your place has expired", true, false, false},
		"left":       {with(func(v *View) { v.Status = "left" }), "say", "Waiting room", "You have left the line", true, false, false},
		"done":       {with(func(v *View) { v.Status = "done" }), "say", "Waiting room", "Thank you for your visit Your session has ended", true, false, false},
		"trouble":    {with(func(v *View) { v.Problem = "Redis is away." }), "say", "Waiting room", "One moment, please Redis is away.", false, false, true},
		"waiting":    {waitingView(), "waiting", "Place 1,204 · Winter sale", "1,204 1,203 people are ahead of you. Estimated wait about 4 to 7 minutes", false, true, true},
		"next":       {with(func(v *View) { v.Standing = &Standing{State: "waiting", Position: 1} }), "waiting", "Place 1", "You are next.", false, true, true},
		"re-forming": {stands("waiting"), "waiting", "Waiting room · Winter sale", "Your place is kept.", false, true, true},
		"admitted":   {stands("admitted"), "turn", "Your turn! · Winter sale", "Your turn is kept for 0:30. Enter now", false, true, false},
		"active":     {stands("active"), "turn", "Your turn!", "Enter now", false, true, false},
		"away":       {stands("away"), "say", "Waiting room", "Welcome back", false, true, true},
		"paused":     {with(func(v *View) { v.Standing = &Standing{State: "paused", Position: 8, Ahead: 7} }), "waiting", "Place 8", "Entry is paused. Your place is kept.", false, true, true},
		"full":       {stands("full"), "say", "Waiting room", "The line is full", false, false, true},
		"moved":      {with(func(v *View) { v.Status = "moved" }), "say", "Waiting room", "Your place is on another device", false, false, false},
		"near":       {with(func(v *View) { v.Standing = &Standing{State: "waiting", Position: 3, Ahead: 2, Near: true, HighS: 50} }), "waiting", "Place 3", "Nearly there.", false, true, true},
		"opening":    {with(func(v *View) { v.Standing = &Standing{State: "not_open", OpensInS: 3700} }), "say", "Waiting room", "Opens in 1:01:40", false, false, true},
		"closed":     {stands("closed"), "say", "Waiting room", "The line is closed", false, false, true},
		"not open":   {stands("not_open"), "say", "Waiting room", "Not open yet", false, false, true},
		"gone":       {stands("expired"), "say", "Waiting room", "Your place has expired", true, false, false},
		"no such":    {stands("turned-round"), "say", "Waiting room", "One moment, please", false, false, true},
		"malformed":  {stands(""), "say", "Waiting room", "Take a place", true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, _ := render(t, Page(c.view))
			for _, id := range []string{"say", "waiting", "turn"} {
				if got, want := shown(byID(t, root, id)), id == c.panel; got != want {
					t.Errorf("panel %q shown = %v, want %v", id, got, want)
				}
			}
			title := text(all(root, func(n *html.Node) bool { return n.Data == "title" })[0])
			if !strings.HasPrefix(title, c.title) {
				t.Errorf("title %q, want %q", title, c.title)
			}
			if got := text(byID(t, root, c.panel)); !strings.Contains(got, c.says) {
				t.Errorf("panel says %q, want %q in it", got, c.says)
			}
			for id, want := range map[string]bool{"join": c.joins, "leave": c.leaves, "enter": c.panel == "turn", "check": !c.joins && name != "moved"} {
				if got := shown(byID(t, root, id)); got != want {
					t.Errorf("%q shown = %v, want %v", id, got, want)
				}
			}
			awaits := c.panel == "waiting" || c.leaves && c.panel == "say" || name == "new" || name == "malformed" || c.says[:3] == "One"
			if got := shown(byID(t, root, "next")); got != awaits {
				t.Errorf("what happens next is shown = %v, want %v", got, awaits)
			}
			if got := len(refreshes(root)) == 1; got != c.refreshs {
				t.Errorf("refreshes = %v, want %v", got, c.refreshs)
			}
		})
	}
}

// UX-06: nothing refreshes sooner than 20 s, and only without script.
func TestPageWorksWithoutScript(t *testing.T) {
	t.Parallel()
	root, _ := render(t, Page(View{Room: "sale", Title: "Sale", Target: "https://shop.test/a?b=1&c=2"}))
	for id, action := range map[string]string{"join": "/r/sale/join", "enter": "/r/sale/claim", "leave-form": "/r/sale/leave"} {
		form := byID(t, root, id)
		if attr(form, "method") != "post" || attr(form, "action") != action {
			t.Errorf("form %q goes by %q to %q, want post to %q", id, attr(form, "method"), attr(form, "action"), action)
		}
	}
	target := all(byID(t, root, "join"), func(n *html.Node) bool { return attr(n, "name") == "target" })
	if len(target) != 1 || attr(target[0], "value") != "https://shop.test/a?b=1&c=2" || attr(target[0], "type") != "hidden" {
		t.Errorf("the join form has the target fields %v", target)
	}
	view := waitingView()
	for asked, want := range map[int]string{0: "20", 5: "20", 45: "45"} {
		view.RefreshS = asked
		root, _ = render(t, Page(view))
		meta := refreshes(root)
		if len(meta) != 1 || attr(meta[0], "content") != want || meta[0].Parent.Data != "noscript" {
			t.Errorf("RefreshS %d: refresh tags %v, want one of %s s inside noscript", asked, meta, want)
		}
	}
}

// UX-05: the place itself is not live.
func TestPageSpeaksOnlyInItsLiveRegions(t *testing.T) {
	t.Parallel()
	root, _ := render(t, Page(waitingView()))
	live := all(root, func(n *html.Node) bool {
		return has(n, "aria-live") || attr(n, "role") == "alert" || attr(n, "role") == "status"
	})
	if len(live) != 2 || attr(live[0], "aria-live") != "polite" || attr(live[1], "role") != "alert" {
		t.Fatalf("%d live regions, want one polite and one alert", len(live))
	}
	for _, region := range live {
		if text(region) != "" {
			t.Errorf("live region %q speaks before anything happened: %q", attr(region, "id"), text(region))
		}
	}
}

// A site that sends people back ends in advice and one button, which nothing takes away.
func TestLoopOffersTheButtonOnly(t *testing.T) {
	t.Parallel()
	root, _ := render(t, Page(View{Room: "sale", Title: "Sale", Status: "loop"}))
	for id, want := range map[string]bool{"say": true, "enter": true, "waiting": false, "join": false, "foot": false, "leave": false, "next": false} {
		if got := shown(byID(t, root, id)); got != want {
			t.Errorf("%q shown = %v, want %v", id, got, want)
		}
	}
	if got := refreshes(root); len(got) != 0 {
		t.Error("the page reloads: it is the answer to a form")
	}
}

func TestPageEscapesForeignText(t *testing.T) {
	t.Parallel()
	const bad = `"><img src=x onerror=alert(1)></script><script>alert(2)</script>'` + "\u2028"
	v := waitingView()
	v.Title, v.Message, v.Target, v.Notice, v.Problem, v.Lang, v.Status = bad, bad, bad, bad, bad, bad, bad
	v.Room, v.Standing.State = `x" onmouseover="alert(3)`, bad
	for _, c := range []templ.Component{Page(v), Notice(NoticeView{Title: bad, Text: bad, Lang: bad})} {
		root, raw := render(t, c)
		for _, n := range all(root, func(*html.Node) bool { return true }) {
			if n.Data == "img" {
				t.Error("foreign text became an element")
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
					t.Errorf("<%s> has the attribute %s", n.Data, a.Key)
				}
			}
			if n.Data == "script" && !has(n, "src") && attr(n, "type") != "application/json" {
				t.Errorf("inline script: %s", text(n))
			}
		}
		if strings.Contains(raw, "<script>") || strings.Contains(raw, "<style") {
			t.Error("the page has inline script or style")
		}
	}
	root, _ := render(t, Page(v))
	if got := attr(byID(t, root, "queue"), "data-target"); got != bad {
		t.Errorf("data-target is %q, want the text unchanged", got)
	}
}

func TestNoticePages(t *testing.T) {
	t.Parallel()
	root, _ := render(t, Unknown("en"))
	h1 := all(root, func(n *html.Node) bool { return n.Data == "h1" })
	if len(h1) != 1 || text(h1[0]) != "There is no such waiting room" {
		t.Errorf("headings %v", h1)
	}
	if scripts := all(root, func(n *html.Node) bool { return n.Data == "script" || n.Data == "form" }); len(scripts) != 0 {
		t.Errorf("a page that says one thing has %d scripts and forms", len(scripts))
	}
}

func TestPageLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	root, _ := render(t, Page(waitingView()))
	for _, n := range all(root, func(*html.Node) bool { return true }) {
		for _, key := range []string{"src", "href"} {
			at := attr(n, key)
			if at != "" && !strings.HasPrefix(at, StaticPrefix) && !strings.HasPrefix(at, "data:image/svg+xml,") {
				t.Errorf("<%s %s=%q> leaves the page's own files", n.Data, key, at)
			}
		}
	}
}

// TestBudget keeps the page light: people wait on bad connections. All sizes uncompressed.
func TestBudget(t *testing.T) {
	t.Parallel()
	const budget = 30 << 10
	_, raw := render(t, Page(waitingView()))
	total := len(raw)
	for _, file := range []string{"queue.css", "queue.js"} { // proof.js is loaded by rooms that ask for a proof
		total += len(assets[strings.TrimPrefix(AssetPath(file), StaticPrefix)].data)
	}
	if total > budget {
		t.Errorf("page, stylesheet and script have %d bytes, want at most %d", total, budget)
	}
	t.Logf("%d of %d bytes", total, budget)
}
