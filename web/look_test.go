package web_test

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web"
)

func TestLanguage_IsChosenAndRemembered(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	german := append([]string{"Accept-Language", "de-CH,de;q=0.9"}, navigation...)
	if a := s.send(nil, "GET", "queue.test", "/r/sale", "", german...); !strings.Contains(a.text, `<html lang="de" dir="ltr">`) || !strings.Contains(a.text, "Stellen Sie sich an") {
		t.Errorf("the browser prefers German and gets %.200s", a.text)
	}
	a := s.send(nil, "GET", "queue.test", "/r/sale?lang=ar", "", german...)
	if !strings.Contains(a.text, `<html lang="ar" dir="rtl">`) {
		t.Errorf("the address names Arabic, and the page is %.200s", a.text)
	}
	kept := ""
	for _, c := range a.Cookies() {
		if c.Name == "anteroom_lang" {
			kept = c.Value
		}
	}
	if kept != "ar" {
		t.Errorf("the language is remembered as %q", kept)
	}
	if a := s.send(nil, "GET", "queue.test", "/r/sale", "", append([]string{"Cookie", "anteroom_lang=ko"}, german...)...); !strings.Contains(a.text, `<html lang="ko"`) {
		t.Errorf("Korean was chosen before, and the page is %.200s", a.text)
	}
	if a := s.send(nil, "GET", "queue.test", "/r/sale?lang=%22%3E%3Cscript%3E", "", navigation...); !strings.Contains(a.text, `<html lang="en"`) || strings.Contains(a.text, `"><script>`) || len(a.Header["Set-Cookie"]) > 1 {
		t.Errorf("what is no language leads to %.200s, %v", a.text, a.Header["Set-Cookie"])
	}
}

func TestPreview_IsOffWhereVisitorsAre(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	if a := s.send(nil, "GET", "queue.test", "/r/sale/preview?state=turn", "", navigation...); a.StatusCode != 404 {
		t.Errorf("a visitor is shown %d", a.StatusCode)
	}
}

func TestTheme_ColoursAndFileAreServedUnderANameThatChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t, "    theme: {accent: \"#7a1fa2\", logo: \"https://cdn.test/logo.svg\", texts: {new_title: \"Come <b>in</b>\"}}\n")
	a := s.send(nil, "GET", "queue.test", "/r/sale", "", navigation...)
	if !strings.Contains(a.text, "Come &lt;b&gt;in&lt;/b&gt;") || !strings.Contains(a.Header.Get("Content-Security-Policy"), "img-src 'self' data: https://cdn.test;") {
		t.Errorf("%s\n%.300s", a.Header.Get("Content-Security-Policy"), a.text)
	}
	at := regexp.MustCompile(`/anteroom-static/theme/sale-[0-9a-f]{12}\.css`).FindString(a.text)
	if at == "" {
		t.Fatalf("no stylesheet of the room in %.900s", a.text)
	}
	if a := s.send(nil, "GET", "queue.test", at, ""); a.StatusCode != 200 || !strings.Contains(a.text, "--accent:#7a1fa2") || !strings.Contains(a.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%d %s", a.StatusCode, a.text)
	}
	if a := s.send(nil, "GET", "queue.test", strings.Replace(at, "sale-", "sale-0", 1), ""); a.StatusCode != 404 {
		t.Errorf("another name is served: %d", a.StatusCode)
	}
}

// A template of an operator draws the page; one that cannot be used leaves the built-in one.
func TestTheme_ATemplateDrawsThePageOrStaysAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, shows string }{
		"good": {`<html><head>{{.Head}}</head><body><nav>Lantern Hall</nav>{{.Queue}}{{.Script}}</body></html>`, "<nav>Lantern Hall</nav>"},
		"bad":  {`{{.Nothing}}`, "<!doctype html>"},
	} {
		all, err := rooms.Parse("rooms.yaml", []byte("rooms: [{name: sale, capacity: 1, rate: 1/s}]"))
		if err != nil {
			t.Fatal(err)
		}
		all[0].Theme.Source = c.source // as rooms.Open reads it from the file
		var log bytes.Buffer
		server := web.New(web.Config{
			Polls: far{}, Rooms: rooms.Fixed(all...), Statuses: far{}, PublicURL: &url.URL{Scheme: "https", Host: "queue.test"},
			Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Tickets: signer(t),
		})
		server.CheckThemes(slog.New(slog.NewTextHandler(&log, nil)))
		if said := strings.Contains(log.String(), "template does not count"); said != (name == "bad") {
			t.Errorf("%s: the log says %q", name, &log)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "GET", "https://queue.test/r/sale", nil)
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		server.Handler().ServeHTTP(w, r)
		if text := w.Body.String(); w.Code != 200 || !strings.Contains(text, c.shows) || !strings.Contains(text, `id="queue"`) {
			t.Errorf("%s: %d %.300s", name, w.Code, text)
		}
	}
}

func signer(t *testing.T) *queue.Signer {
	t.Helper()
	s, err := queue.NewSigner(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
