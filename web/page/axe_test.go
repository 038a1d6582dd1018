package page

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/anteroom/anteroom/internal/browsertest"
)

// axe is axe-core 4.14, as its makers publish it; its licence lies beside it.
func axe(t *testing.T) string {
	t.Helper()
	f, err := os.Open("testdata/axe.min.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAxe_FindsNoViolation looks at every state in both directions of writing, in the light
// and in the dark.
func TestAxe_FindsNoViolation(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle(StaticPrefix, Static())
	mux.HandleFunc("/r/sale", func(w http.ResponseWriter, r *http.Request) {
		v, ok := Preview(View{Room: "sale", Title: "Winter sale", Message: "Doors at eight.", Lang: r.URL.Query().Get("lang"), KeepS: 600, Resume: true, Proof: true}, r.URL.Query().Get("state"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = Page(v).Render(r.Context(), w)
	})
	site := httptest.NewServer(mux)
	defer site.Close()
	source := axe(t)
	ctx := browsertest.Open(t)
	for _, lang := range []string{"en", "ar"} {
		for i, state := range PreviewStates() {
			scheme := []string{"light", "dark"}[i%2]
			if lang == "ar" {
				scheme = []string{"dark", "light"}[i%2]
			}
			if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			}); err != nil {
				t.Fatal(err)
			}
			browsertest.Do(t, ctx, chromedp.Navigate(site.URL+"/r/sale?lang="+lang+"&state="+state))
			browsertest.Eval[bool](t, ctx, source+";window.found = ''; axe.run().then((r) => { found = JSON.stringify(r.violations.map((v) => [v.id, v.nodes.map((n) => n.html)])); }); true")
			browsertest.Until(t, ctx, `found !== ""`)
			if got := browsertest.Eval[string](t, ctx, "found"); got != "[]" {
				t.Errorf("%s, %s, %s: %s", state, lang, scheme, got)
			}
		}
	}
}
