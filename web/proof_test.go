package web_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/anteroom/anteroom/internal/proof"
)

// A room that asks for work gives a place for each solution, once; looking takes no place.
func TestProof_BeforeAPlace(t *testing.T) {
	t.Parallel()
	s := newSite(t, "    proof: 2000\n    state: paused\n")
	s.want("no proof", s.browser().do("POST", ticketAPI, ""), 403)
	s.want("a made-up one", s.browser().do("POST", ticketAPI, `{"proof":"e30="}`, "Content-Type", "application/json"), 403)
	var c proof.Challenge
	a := s.want("the challenge", s.browser().do("GET", "https://queue.test/v1/rooms/sale/challenge", ""), 200)
	if err := json.Unmarshal([]byte(a.text), &c); err != nil || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the challenge is %s, %v", a.text, err)
	}
	solved, err := proof.Solve(c)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	places := 0
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			a := s.browser().do("POST", ticketAPI, `{"proof":"`+solved+`"}`, "Content-Type", "application/json")
			mu.Lock()
			defer mu.Unlock()
			if a.StatusCode == 201 {
				places++
			} else if a.StatusCode != 403 {
				t.Errorf("a used proof is answered %d %s", a.StatusCode, a.text)
			}
		})
	}
	wg.Wait()
	if places != 1 {
		t.Errorf("one solution made %d places", places)
	}
	s.want("a room without", newSite(t, "").browser().do("GET", "https://queue.test/v1/rooms/sale/challenge", ""), 404)
}

// A page that is looked at, fetched ahead or scanned takes no place.
func TestUX_LookingTakesNoPlace(t *testing.T) {
	t.Parallel()
	s := newSite(t, "    state: paused\n")
	for _, headers := range [][]string{
		navigation, {"Sec-Purpose", "prefetch;prerender"}, {"Purpose", "prefetch"}, {"User-Agent", "facebookexternalhit/1.1"}, {"Accept", "*/*"}, {"X-Requested-With", "XMLHttpRequest"},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			for _, address := range []string{"https://queue.test/r/sale?target=%2F", "https://shop.test/sale", "https://queue.test/v1/rooms/sale/ticket"} {
				s.browser().do(method, address, "", headers...)
			}
		}
	}
	if status, err := s.Line.Status(t.Context(), s.room.Queue()); err != nil || status.Waiting != 0 || status.Counters.Joined != 0 {
		t.Errorf("looking took %d places, %v", status.Counters.Joined, err)
	}
}
