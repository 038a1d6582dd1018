// Package browsertest drives a headless Chromium in tests. Without Chromium a test skips
// with a line that says how to get it; with CI=true it fails.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	browserlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Open starts a browser with nothing remembered and returns the context of its first tab,
// good for a minute. What a page logs as an error by itself, a breach of its
// Content-Security-Policy included, fails the test.
func Open(t *testing.T) context.Context {
	t.Helper()
	return OpenFor(t, time.Minute)
}

// OpenFor is Open for a test that takes longer.
func OpenFor(t *testing.T, good time.Duration) context.Context {
	t.Helper()
	path := find(t)
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, stop := context.WithTimeout(t.Context(), good)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(stop)
	return OpenTab(t, ctx)
}

func find(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			return at
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no Chromium on PATH: CI needs it")
	}
	t.Skip("no Chromium on PATH: install the package chromium to run this test")
	return ""
}

// OpenTab opens one more tab of the browser of ctx.
func OpenTab(t *testing.T, ctx context.Context) context.Context {
	t.Helper()
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	Do(t, ctx, chromedp.Navigate("about:blank"))
	err := chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *browserlog.EventEntryAdded:
			if !strings.Contains(e.Entry.Text, "Failed to load resource") { // the test's own refusals
				t.Errorf("the browser logs: %s", e.Entry.Text)
			}
		case *runtime.EventExceptionThrown:
			t.Errorf("the script throws: %+v", e.ExceptionDetails)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

// Do carries steps out.
func Do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// Until waits for an expression to be true, on this page or one that it leads to.
func Until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression))
	for err != nil && strings.Contains(err.Error(), "-32000") && ctx.Err() == nil {
		_, err = chromedp.Run(ctx, chromedp.Poll[bool](expression))
	}
	if err != nil {
		now, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.title + "\n" + document.body.innerText`))
		t.Fatalf("waiting for %s: %v; the page shows\n%s", expression, err, now)
	}
}

// Eval is the value of an expression in the page.
func Eval[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Shoot saves a picture of the page at three widths, as name-320.png and so on, in the
// folder that ANTEROOM_SCREENSHOTS names; without it nothing is saved.
func Shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("ANTEROOM_SCREENSHOTS")
	if dir == "" {
		return
	}
	for width, file := range map[int64]string{320: "-320.png", 768: "-768.png", 1280: "-1280.png"} {
		Do(t, ctx, chromedp.EmulateViewport(width, 800))
		png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+file), png, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	Do(t, ctx, chromedp.EmulateViewport(1280, 800))
}
