package rooms_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
)

const good = `
rooms:
  - name: sale
    capacity: 100
    rate: 600/m
    targets: [Shop.example]
    default_target: https://shop.example/start
    match:
      - host: shop.example
`

func TestParse_FillsTheDefaults(t *testing.T) {
	t.Parallel()
	all, err := rooms.Parse("rooms.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	r := all[0]
	q := r.Queue().Rules
	if q.Interval != 100*time.Millisecond || q.Burst != 1 || q.Heartbeat != 30*time.Second || q.KeepPlace != 10*time.Minute {
		t.Errorf("rules are %+v", q)
	}
	if r.OnStore != rooms.Hold || r.Targets[0] != "shop.example" || r.Match[0].Path != "/" || r.Display() != "sale" {
		t.Errorf("room is %+v", r)
	}
	if err := q.Validate(); err != nil {
		t.Error(err)
	}
}

func TestParse_NamesEveryProblemWithItsLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"empty":         {"", []string{"no rooms"}},
		"not yaml":      {"rooms: [", []string{"rooms.yaml"}},
		"unknown field": {"rooms:\n  - name: a\n    capacity: 1\n    rate: 1/s\n    capcity: 3\n", []string{`line 5: unknown field "capcity"`}},
		"unknown in match": {
			"rooms:\n  - name: a\n    capacity: 1\n    rate: 1/s\n    match:\n      - hots: x\n", []string{`line 6: unknown field "hots"`}},
		"unknown at top": {"romes: []\n", []string{"line 1", "romes"}},
		"bad rate":       {"rooms:\n  - name: a\n    capacity: 1\n    rate: 5/d\n", []string{"line 4", "600/m"}},
		"zero rate":      {"rooms:\n  - name: a\n    capacity: 1\n    rate: 0/s\n", []string{"out of range"}},
		"many at once": {
			"rooms:\n  - name: A!\n    heartbeat: 1s\n    keep_place: 2s\n    on_store_error: maybe\n    default_target: //evil.test/x\n    origin: ftp://x\n",
			[]string{"rooms.yaml:2", "name must be", "capacity is 0", "rate is missing", "heartbeat is 1s", "want hold or admit", "default_target", "origin"}},
		"same name":        {"rooms:\n  - {name: a, capacity: 1, rate: 1/s}\n  - {name: a, capacity: 1, rate: 1/s}\n", []string{"taken by the room of line 2"}},
		"target is a URL":  {"rooms:\n  - {name: a, capacity: 1, rate: 1/s, targets: ['https://x']}\n", []string{"is not a host"}},
		"default off list": {"rooms:\n  - {name: a, capacity: 1, rate: 1/s, targets: [x.test], default_target: 'https://y.test/'}\n", []string{"neither a path"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rooms.Parse("rooms.yaml", []byte(c.in))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error does not say %q:\n%v", want, err)
				}
			}
		})
	}
}

func TestRate_NeverPassesWhatWasWritten(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{
		"600/m": 100 * time.Millisecond, "7/m": 8571429 * time.Microsecond, "100000/s": 10 * time.Microsecond,
		"1/h": time.Hour, "3/s": 333334 * time.Microsecond,
	} {
		r, err := rooms.ParseRate(in)
		if err != nil || r.Interval() != want || r.String() != in {
			t.Errorf("%s is %v every %v, %v; want %v", in, r, r.Interval(), err, want)
		}
	}
}

func TestRegistry_BadFileKeepsTheOldRooms(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(good)
	g, err := rooms.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	write("rooms:\n  - name: sale\n    capacity: none\n")
	if err := g.Reload(); err == nil {
		t.Error("Reload accepted a bad file")
	}
	if r, ok := g.Get("sale"); !ok || r.Capacity != 100 {
		t.Errorf("after a bad reload the room is %+v, %v", r, ok)
	}
	write(strings.Replace(good, "100", "800", 1))
	if err := g.Reload(); err != nil {
		t.Error(err)
	}
	if r, _ := g.Get("sale"); r.Capacity != 800 {
		t.Errorf("capacity is %d after the reload, want 800", r.Capacity)
	}
}

func TestExampleFile_Parses(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../deploy/rooms.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rooms.Parse("rooms.example.yaml", data); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("rooms:\n  - &a {name: a}\n  - *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := rooms.Parse("f", data)
		if err != nil {
			return
		}
		for _, r := range all {
			if err := r.Queue().Rules.Validate(); err != nil {
				t.Fatalf("accepted a room that the line refuses: %v", err)
			}
		}
	})
}
