package web_test

import (
	"net/url"
	"strings"
	"testing"
)

// A place goes to another device once; looking at the link moves nothing.
func TestResume_MovesThePlaceOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, "    state: paused\n")
	laptop, phone, third := s.browser(), s.browser(), s.browser()
	s.browser().do("POST", ticketAPI, "")
	s.want("the join", laptop.do("POST", ticketAPI, ""), 201)
	a := s.want("the link", laptop.do("POST", ticketAPI+"/resume", ""), 200)
	_, link, _ := strings.Cut(a.text, `"link":"`)
	link, _, _ = strings.Cut(link, `"`)
	u, err := url.Parse(link)
	if err != nil || u.Host != "queue.test" || !strings.HasPrefix(u.Path, "/r/sale/resume/") || !strings.Contains(a.text, `"qr":"data:image/png;base64,`) {
		t.Fatalf("the offer is %.200s", a.text)
	}
	for _, headers := range [][]string{navigation, {"User-Agent", "a link preview"}, {"Sec-Purpose", "prefetch"}} {
		s.want("looking at the link", phone.do("GET", link, "", headers...), 200)
	}
	if a := laptop.do("GET", ticketAPI, ""); !strings.Contains(a.text, `"position":2`) {
		t.Errorf("looking at the link moved the place: %s", a.text)
	}
	s.want("taking it", phone.do("POST", link, "", navigation...), 303)
	if a := phone.do("GET", ticketAPI, ""); a.StatusCode != 200 || !strings.Contains(a.text, `"position":2`) {
		t.Errorf("the phone stands at %d %s", a.StatusCode, a.text)
	}
	if a := laptop.do("GET", ticketAPI, ""); a.StatusCode != 401 || !strings.Contains(a.text, `"state":"moved"`) {
		t.Errorf("the laptop is told %d %s", a.StatusCode, a.text)
	}
	if a := laptop.do("GET", "https://queue.test/r/sale", "", navigation...); !strings.Contains(a.text, "another device") {
		t.Errorf("the laptop's page shows %.300s", a.text)
	}
	a = s.want("taking it again", third.do("POST", link, "", navigation...), 410)
	if !strings.Contains(a.text, "was used") {
		t.Errorf("a used link shows %.300s", a.text)
	}
	s.want("no ticket", s.browser().do("POST", ticketAPI+"/resume", ""), 401)
	a = s.want("the page with the picture", phone.do("POST", "https://queue.test/r/sale/resume", "", navigation...), 200)
	if !strings.Contains(a.text, `src="data:image/png;base64,`) {
		t.Errorf("the page shows %.300s", a.text)
	}
}
