package rooms_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
)

const overridden = `
rooms:
  - {name: sale, capacity: 500, rate: 600/m, match: [{host: shop.example}], message: hello}
  - {name: other, capacity: 10, rate: 2/s}
`

func parsed(t *testing.T) *rooms.Registry {
	t.Helper()
	all, err := rooms.Parse("rooms.yaml", []byte(overridden))
	if err != nil {
		t.Fatal(err)
	}
	return rooms.Fixed(all...)
}

func TestOverride_GoesOverTheFileAndAway(t *testing.T) {
	t.Parallel()
	g := parsed(t)
	err := g.Override(map[string]rooms.Override{
		"sale": {"capacity": "800", "rate": "2/s", "session": "1h", "state": "paused", "message": "123", "enabled": "false", "max_waiting": "7"},
		"gone": {"capacity": "1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := g.Get("sale")
	if got.Capacity != 800 || got.Rate.String() != "2/s" || got.Session != time.Hour || got.State != rooms.Paused ||
		got.Message != "123" || got.Enabled || got.MaxWaiting != 7 || !got.Rules().Hold {
		t.Fatalf("%+v", got)
	}
	if base, _ := g.Base("sale"); base.Capacity != 500 || base.Message != "hello" {
		t.Errorf("the file's own room changed: %+v", base)
	}
	if other, _ := g.Get("other"); other.Capacity != 10 {
		t.Errorf("another room changed: %+v", other)
	}
	if found, _, ok, err := g.Find("shop.example", "/"); err != nil || !ok || found.Capacity != 800 {
		t.Errorf("the gate sees %+v, %v, %v", found, ok, err)
	}
	if err := g.Override(nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := g.Get("sale"); got.Capacity != 500 || got.State != rooms.IsOpen || len(got.Targets) != 1 {
		t.Errorf("after taking it back: %+v", got)
	}
}

func TestOverride_RefusesWhatTheFileWouldRefuse(t *testing.T) {
	t.Parallel()
	for field, value := range map[string]string{
		"capacity": "0", "rate": "fast", "session": "10", "state": "ajar", "enabled": "yes", "message": strings.Repeat("x", 281),
		"opens": "tomorrow", "claim_window": "1ms", "max_waiting": "-1", "burst": "many", "max_session": "1m",
		"targets": "evil.example", "origin": "http://evil.example", "name": "x", "nonsense": "1",
	} {
		g := parsed(t)
		err := g.Override(map[string]rooms.Override{"sale": {field: value}, "other": {"capacity": "11"}})
		if !errors.Is(err, rooms.ErrOverride) || !strings.Contains(err.Error(), "sale") {
			t.Errorf("%s: %s: error is %v", field, value, err)
		}
		if got, _ := g.Get("sale"); got.Capacity != 500 || len(got.Targets) != 1 {
			t.Errorf("%s: %s: the room changed: %+v", field, value, got)
		}
		if got, _ := g.Get("other"); got.Capacity != 11 {
			t.Errorf("%s: the sound override did not count", field)
		}
	}
}

func TestOverride_CheckKnowsNoRoom(t *testing.T) {
	t.Parallel()
	if err := (rooms.Override{"session": "2h", "capacity": "5"}).Check(); err != nil {
		t.Error(err)
	}
	if err := (rooms.Override{"session": "soon", "capacity": "0"}).Check(); !errors.Is(err, rooms.ErrOverride) ||
		!strings.Contains(err.Error(), "session") || !strings.Contains(err.Error(), "capacity") {
		t.Errorf("error is %v", err)
	}
}

func TestValues_AreAnOverrideThatChangesNothing(t *testing.T) {
	t.Parallel()
	g := parsed(t)
	room, _ := g.Get("sale")
	values := room.Values()
	if values["session"] != "10m" || values["max_session"] != "1h" || values["rate"] != "600/m" {
		t.Errorf("%v", values)
	}
	again, err := values.Apply(room)
	if err != nil || !maps.Equal(again.Values(), values) {
		t.Errorf("%v, %v", again.Values(), err)
	}
}
