package page

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/anteroom/anteroom/internal/browsertest"
)

// TestNothingIsWiderThanASmallPhone: nothing is wider than a small phone, in any state and direction.
func TestNothingIsWiderThanASmallPhone(t *testing.T) {
	t.Parallel()
	site := previewSite(t)
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.EmulateViewport(320, 800))
	for _, lang := range []string{"de", "ar"} {
		for _, state := range PreviewStates() {
			browsertest.Do(t, ctx, chromedp.Navigate(site.URL+"/?lang="+lang+"&state="+state))
			if wide := browsertest.Eval[string](t, ctx, `(() => {
				const all = [...document.querySelectorAll("body *")].filter((e) => { const r = e.getBoundingClientRect(); return r.width > 1 && (r.right > innerWidth + 1 || r.left < -1); });
				return document.documentElement.scrollWidth > innerWidth || all.length ? innerWidth + " < " + document.documentElement.scrollWidth + " " + all.map((e) => e.tagName + "." + e.className + "#" + e.id).join(" ") : "";
			})()`); wide != "" {
				t.Errorf("%s, %s: %s", state, lang, wide)
			}
		}
	}
}
