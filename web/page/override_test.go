package page

import (
	"strings"
	"testing"
)

const ownPage = `<!doctype html><html lang="{{.Lang}}" dir="{{.Dir}}"><head>{{.Head}}</head><body><nav>Lantern Hall</nav>
{{if .Position}}<p id="own">{{.Position}}: {{.Wait}}</p>{{else}}<p id="own">{{.Heading}}</p>{{end}}{{.Queue}}{{.Language}}{{.Script}}</body></html>`

func TestOverride_DrawsEveryState(t *testing.T) {
	t.Parallel()
	o, err := NewOverride(ownPage)
	if err != nil {
		t.Fatal(err)
	}
	v := waitingView()
	v.Title, v.Lang = `<script>alert(1)</script>`, "ar"
	root, raw := render(t, o.Page(v))
	if got := text(byID(t, root, "own")); !strings.HasPrefix(got, "1,204: ") {
		t.Errorf("the own part says %q", got)
	}
	if byID(t, root, "queue") == nil || strings.Contains(raw, "<script>alert") || !strings.Contains(raw, `dir="rtl"`) {
		t.Errorf("the page is %.400s", raw)
	}
}

func TestOverride_ABadOneIsRefusedWhenItIsRead(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"torn":           "{{if .Position}}",
		"unknown name":   "{{.Secret}}",
		"fails in one":   `{{if eq .State "loop"}}{{index .Title 999}}{{end}}`,
		"unknown method": "{{.Queue.Run}}",
	} {
		if _, err := NewOverride(source); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestStylesheet_TextInTheAccentCanBeRead(t *testing.T) {
	t.Parallel()
	for _, accent := range []string{"#fff", "#ffff00", "#0e6a55", "#000", "#888888", "#ff00ff"} {
		c, ok := parseColour(accent)
		if !ok {
			t.Fatal(accent)
		}
		for ground, end := range map[colour]colour{lightCard: {}, darkCard: {0xff, 0xff, 0xff}} {
			if got := contrast(readable(c, ground, end), ground); got < enough {
				t.Errorf("%s on %v has a contrast of %.2f", accent, ground, got)
			}
		}
	}
	if Stylesheet("", "", nil) != nil {
		t.Error("no theme, and there is a stylesheet")
	}
	if got := string(Stylesheet("#7a1fa2", "", []byte("h1{}"))); !strings.Contains(got, "--accent:#7a1fa2") || !strings.HasSuffix(got, "h1{}") {
		t.Errorf("the stylesheet is %s", got)
	}
	if got := string(Stylesheet("red;} body{display:none", "url(x)", nil)); got != "" {
		t.Errorf("what is no colour became %q", got)
	}
}
