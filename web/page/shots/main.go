// Shots takes pictures of the queue page in every state, at three widths, in the light and in
// the dark, in three languages: for looking at.
//
//	go run ./web/page/shots -out DIR [-states waiting,turn] [-langs en,ko,ar]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/anteroom/anteroom/web/page"
)

func main() {
	out := flag.String("out", "", "folder of the pictures")
	states := flag.String("states", strings.Join(page.PreviewStates(), ","), "states, separated by commas")
	langs := flag.String("langs", "en,ko,ar", "languages, separated by commas")
	flag.Parse()
	if err := run(*out, strings.Split(*states, ","), strings.Split(*langs, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "shots:", err)
		os.Exit(1)
	}
}

func run(out string, states, langs []string) error {
	if out == "" {
		return errors.New("-out names the folder of the pictures")
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return err
	}
	site := httptest.NewServer(handler())
	defer site.Close()
	ctx, stop, err := browser()
	if err != nil {
		return err
	}
	defer stop()
	for _, scheme := range []string{"light", "dark"} {
		if err := prefer(ctx, scheme); err != nil {
			return err
		}
		for _, lang := range langs {
			for _, state := range states {
				if err := shoot(ctx, site.URL, out, scheme, lang, state); err != nil {
					return fmt.Errorf("%s, %s, %s: %w", state, lang, scheme, err)
				}
			}
		}
	}
	return nil
}

// handler shows the page of a room in the state and language that are asked for.
func handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(page.StaticPrefix, page.Static())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		view, ok := page.Preview(page.View{
			Room: "sale", Title: "The Lantern Sessions", Target: "/", Lang: r.URL.Query().Get("lang"), KeepS: 600, Resume: true,
			Message: "Tickets for all three evenings are on sale, up to four a person.",
		}, r.URL.Query().Get("state"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = page.Page(view).Render(r.Context(), w) // the browser shows what came
	})
	return mux
}

func browser() (context.Context, func(), error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, nil, fmt.Errorf("install the package chromium: %w", err)
	}
	dir, err := os.MkdirTemp("", "shots")
	if err != nil {
		return nil, nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(dir), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, stopAll := context.WithTimeout(context.Background(), 10*time.Minute)
	ctx, stopProcess := chromedp.NewExecAllocator(ctx, opts...)
	ctx, stopTab := chromedp.NewContext(ctx)
	return ctx, func() { stopTab(); stopProcess(); stopAll(); _ = os.RemoveAll(dir) }, nil
}

func prefer(ctx context.Context, scheme string) error {
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		return err
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	return err
}

func shoot(ctx context.Context, site, out, scheme, lang, state string) error {
	for _, width := range []int64{320, 768, 1280} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate(site+"/?lang="+lang+"&state="+state)); err != nil {
			return err
		}
		png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s-%s-%s-%d.png", state, lang, scheme, width)
		if err := os.WriteFile(filepath.Join(out, name), png, 0o600); err != nil {
			return err
		}
	}
	return nil
}
