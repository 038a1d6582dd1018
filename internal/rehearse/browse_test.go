package rehearse

import (
	"net/url"
	"testing"
)

func TestArrive(t *testing.T) {
	t.Parallel()
	const page = `<body><main class="x" id="queue" data-room="sale" data-target="https://s/?a=1&amp;b=&#34;2&#34;">`
	for name, c := range map[string]struct {
		at     string
		status int
		text   string
		want   landing
		fault  string
	}{
		"the shop":             {"https://s/a%2Fb?c=%26&d", 200, "<h1>Shop</h1>", landing{shop: true, uri: "/a%2Fb?c=%26&d"}, ""},
		"a page at /r":         {"https://s/r/sale", 200, "<h1>Shop</h1>", landing{shop: true, uri: "/r/sale"}, ""},
		"the page in place":    {"https://s/a?b", 503, page, landing{desk: desk{"https://s/a?b", "https://s/v1/rooms/sale", "sale", `https://s/?a=1&b="2"`}}, ""},
		"the page by redirect": {"http://q:81/r/other?target=x", 200, page, landing{desk: desk{"http://q:81/r/other?target=x", "http://q:81/v1/rooms/other", "other", `https://s/?a=1&b="2"`}}, ""},
		"a page of its own":    {"http://q/r/other?target=%2Fx%26", 200, "<h1>Line</h1>", landing{desk: desk{"http://q/r/other?target=%2Fx%26", "http://q/v1/rooms/other", "other", "/x&"}}, ""},
		"no room":              {"https://s/", 200, `<p>id="queue"`, landing{}, "queue page without a room"},
		"a shop that is down":  {"https://s/", 503, "", landing{}, "http 503"},
		"a page with 404":      {"https://s/", 404, page, landing{}, "http 404"},
	} {
		at, err := url.Parse(c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got, fault := arrive(at, c.status, c.text); got != c.want || fault != c.fault {
			t.Errorf("%s: %+v, %q, want %+v, %q", name, got, fault, c.want, c.fault)
		}
	}
}
