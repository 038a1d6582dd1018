package page

import (
	"compress/gzip"
	"io"
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
	site := previewSite(t)
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
			browsertest.Do(t, ctx, chromedp.Navigate(site.URL+"/?lang="+lang+"&state="+state))
			browsertest.Eval[bool](t, ctx, source+";window.found = ''; axe.run().then((r) => { found = JSON.stringify(r.violations.map((v) => [v.id, v.nodes.map((n) => n.html)])); }); true")
			browsertest.Until(t, ctx, `found !== ""`)
			if got := browsertest.Eval[string](t, ctx, "found"); got != "[]" {
				t.Errorf("%s, %s, %s: %s", state, lang, scheme, got)
			}
		}
	}
}

// A page that its script has taken over shows more: the alerts, the progress, the clock.
func TestAxe_FindsNothingOnALivePage(t *testing.T) {
	t.Parallel()
	view := saleView
	view.KeepS, view.Resume = 600, true
	s := newSite(t, view, func(call, int) (int, string) { return 200, standing(7) })
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	browsertest.Until(t, ctx, `document.getElementById("position").textContent.trim() === "7"`)
	t.Log("requests, bytes, and ms until the place is there: ", browsertest.Eval[string](t, ctx, `(() => {
		const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
		return [all.length, all.reduce((n, e) => n + e.decodedBodySize, 0), Math.round(performance.now())].join(", ");
	})()`))
	browsertest.Eval[bool](t, ctx, axe(t)+";window.found = ''; axe.run().then((r) => { found = JSON.stringify(r.violations.map((v) => [v.id, v.nodes.map((n) => n.html)])); }); true")
	browsertest.Until(t, ctx, `found !== ""`)
	if got := browsertest.Eval[string](t, ctx, "found"); got != "[]" {
		t.Error(got)
	}
}
