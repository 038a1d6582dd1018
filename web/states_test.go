package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/queue"
)

const ticketAPI = "https://queue.test/v1/rooms/sale/ticket"

// What a room's state does to somebody new, and to somebody in the line.
func TestStates_OfARoom(t *testing.T) {
	t.Parallel()
	opens := time.Now().Add(90 * time.Second).Format(time.RFC3339)
	for name, c := range map[string]struct {
		fields, state string
		joins         bool
	}{
		"paused":   {"    state: paused\n", "paused", true},
		"closed":   {"    state: closed\n", "closed", false},
		"not open": {"    opens: " + opens + "\n", "not_open", false},
		"full":     {"    max_waiting: 1\n", "full", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.fields)
			if c.state == "full" {
				full := s.room.Queue()
				full.Rules.Hold = true
				if _, err := s.Line.Join(t.Context(), full, queue.ID(strings.Repeat("x", 22)), nil); err != nil {
					t.Fatal(err)
				}
				s.Watch.Look(t.Context())
			}
			b := s.browser()
			a := b.do("POST", ticketAPI, "")
			if c.joins != (a.StatusCode == 201) || !strings.Contains(a.text, `"state":"`+c.state+`"`) {
				t.Errorf("a join is answered %d %s", a.StatusCode, a.text)
			}
			if c.state == "not_open" && !strings.Contains(a.text, `"opens_in_s":9`) && !strings.Contains(a.text, `"opens_in_s":8`) {
				t.Errorf("the opening is told as %s", a.text)
			}
			if tick, err := s.Line.Admit(t.Context(), s.room.Queue()); err != nil || tick.Admitted != 0 && c.state != "full" {
				t.Errorf("%d were let in, %v", tick.Admitted, err)
			}
			if c.joins {
				if a := b.do("GET", ticketAPI, ""); !strings.Contains(a.text, `"state":"paused"`) || !strings.Contains(a.text, `"position":1`) {
					t.Errorf("a poll is answered %d %s", a.StatusCode, a.text)
				}
			} else if len(b.jar["queue.test"]) > 0 && b.jar["queue.test"]["anteroom_t_sale"] != "" {
				t.Error("a room that gives no places set a ticket")
			}
			a = s.send(nil, "GET", "queue.test", "/r/sale", "", navigation...)
			shows := c.state
			if c.joins { // somebody new may join a paused room
				shows = "new"
			}
			if a.StatusCode != 200 || !strings.Contains(a.text, `data-state="`+shows+`"`) {
				t.Errorf("the page of a %s room has %d %.300s", c.state, a.StatusCode, a.text)
			}
		})
	}
}
