package rooms_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
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
	const room = "rooms:\n  - name: a\n    capacity: 1\n    rate: 1/s\n" // the next line is 5
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"empty":            {"", []string{"rooms.yaml:1: no rooms"}},
		"no list":          {"rooms:\n", []string{"rooms.yaml:1: rooms is empty"}},
		"a list of null":   {"rooms:\n  -\n", []string{"rooms.yaml:2: a room must be fields"}},
		"not yaml":         {"rooms: [", []string{"rooms.yaml:1: not YAML, here or below: "}},
		"two documents":    {room + "---\nrooms: []\n", []string{"rooms.yaml:5: a second document"}},
		"unknown field":    {room + "    capcity: 3\n", []string{`rooms.yaml:5: unknown field "capcity"`}},
		"unknown in match": {room + "    match:\n      - hots: x\n", []string{`rooms.yaml:6: unknown field "hots"`}},
		"unknown at top":   {"romes: []\n", []string{`rooms.yaml:1: unknown field "romes"`}},
		"twice":            {room + "    rate: 2/s\n", []string{`rooms.yaml:5: a room has "rate" twice, first in line 4`}},
		"bad rate":         {"rooms:\n  - name: a\n    capacity: 1\n    rate: 5/d\n", []string{"rooms.yaml:4", "600/m"}},
		"zero rate":        {"rooms:\n  - name: a\n    capacity: 1\n    rate: 0/s\n", []string{"out of range"}},
		"rate is a list":   {"rooms:\n  - name: a\n    capacity: 1\n    rate: [1/s]\n", []string{"rooms.yaml:4", "single value"}},
		"many at once": {
			"rooms:\n  - name: A!\n    heartbeat: 1s\n    keep_place: 25h\n    on_store_error: maybe\n    default_target: //evil.test/x\n    origin: ftp://x\n    burst: 0\n    capacity: none\n    more: 1\n",
			[]string{
				"yaml:2: room \"A!\": name must be", "yaml:2: room \"A!\": rate is missing", "yaml:3: room \"A!\": heartbeat is 1s, want a time from 5s",
				"yaml:4: room \"A!\": keep_place is 25h", "yaml:5: room \"A!\": on_store_error is \"maybe\", want hold or admit", "yaml:6: room \"A!\": default_target",
				"yaml:7: room \"A!\": origin", "yaml:8: room \"A!\": burst is 0", "yaml:9: room \"A!\": capacity is none", "yaml:10: unknown field",
			}},
		"a written zero is no default": {room + "    session: 0s\n", []string{"rooms.yaml:5", "session is 0s, want a time from 1s"}},
		"no unit":                      {room + "    session: 600\n", []string{"rooms.yaml:5", "want a unit too"}},
		"heartbeat over keep_place":    {room + "    heartbeat: 20m\n", []string{"rooms.yaml:5", "keep_place (10m0s) is shorter than heartbeat (20m0s)"}},
		"quoted number":                {room + "    burst: '2'\n", []string{"rooms.yaml:5", `burst is "2", want a whole number`}},
		"too many people":              {"rooms:\n  - {name: a, capacity: 10000001, rate: 1/s}\n", []string{"rooms.yaml:2", "1 to 10000000"}},
		"same name":                    {"rooms:\n  - {name: a, capacity: 1, rate: 1/s}\n  - {name: a, capacity: 1, rate: 1/s}\n", []string{"rooms.yaml:3", "taken by the room of line 2"}},
		"same match":                   {"rooms:\n  - {name: a, capacity: 1, rate: 1/s, match: [{host: x}]}\n  - {name: b, capacity: 1, rate: 1/s, match: [{host: X, path: /}]}\n", []string{"rooms.yaml:3", "is there already, in line 2"}},
		"match without host":           {room + "    match: [{path: /a}]\n", []string{"rooms.yaml:5", "match host"}},
		"match path with dots":         {room + "    match: [{host: x, path: /a/../b}]\n", []string{"rooms.yaml:5", "match path"}},
		"target is a URL":              {room + "    targets:\n      - ok.test\n      - https://x\n", []string{"rooms.yaml:7", "is not a host"}},
		"target is empty":              {room + "    targets: [null]\n", []string{"rooms.yaml:5", "empty"}},
		"target with a star":           {room + "    targets: ['*.x.test']\n", []string{"rooms.yaml:5", "name each host"}},
		"default off list":             {room + "    targets: [x.test]\n    default_target: 'https://y.test/'\n", []string{"rooms.yaml:6", "neither a path"}},
		"default with user":            {room + "    targets: [x.test]\n    default_target: 'https://me@x.test/'\n", []string{"rooms.yaml:6", "neither a path"}},
		"default is our own page":      {room + "    default_target: /r/a\n", []string{`rooms.yaml:5: room "a": default_target "/r/a" is a page of the waiting room itself`}},
		"long title":                   {room + "    title: " + strings.Repeat("ü", 81) + "\n", []string{"rooms.yaml:5", "longer than 80"}},
		"escape in message":            {room + "    message: \"a\\eb\"\n", []string{"rooms.yaml:5", "control character"}},
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

func TestParse_TargetsAndOrigins(t *testing.T) {
	t.Parallel()
	for field, c := range map[string]struct{ good, bad []string }{
		"targets": {
			[]string{"x", "X.test", "x.test:8443", "127.0.0.1:80", "'[::1]:8080'", "'[2001:db8::1]'", "my_host"},
			[]string{"''", "':80'", "'x:'", "x:99999", "x:080", "x/y", "me@x", "'::1'", "bücher.test", "x..y", "-x", "x.", "'x y'", "'[x]'", "'[::1'", "x?y"},
		},
		"origin": {
			[]string{"http://x", "https://x.test:8443/base", "http://[::1]:8080"},
			[]string{"x", "//x", "http://", "http:x", "ftp://x", "http://me@x", "http://x?y", "http://x#y", "http://x:0"},
		},
		"default_target": {
			[]string{"/", "/a?b=//c", "/a%2f", "/rooms", "/gateway", "/a/r/b"},
			[]string{"a", "//x", "'/\\x'", "http://x", "javascript:alert(1)", "'?a'", "/r/a", "/r", "/r/a?target=/", "/%72/a", "/x/../r/a", "/x/%2e%2e/r/a", "/v1/rooms/a", "/gate"},
		},
	} {
		for want, values := range map[bool][]string{true: c.good, false: c.bad} {
			for _, v := range values {
				line := "    " + field + ": " + v + "\n"
				if field == "targets" {
					line = "    targets:\n      - " + v + "\n"
				}
				_, err := rooms.Parse("f", []byte("rooms:\n  - name: a\n    capacity: 1\n    rate: 1/s\n    match: [{host: shop.test}]\n"+line))
				if (err == nil) != want {
					t.Errorf("%s %s: %v, want accepted %v", field, v, err, want)
				}
			}
		}
	}
}

func TestParse_FieldWithoutAValueIsNotGiven(t *testing.T) {
	t.Parallel()
	all, err := rooms.Parse("f", []byte("rooms:\n  - name: a\n    capacity: 1\n    rate: 1/s\n    session:\n    targets:\n    message: ~\n"))
	if err != nil || all[0].Session != 10*time.Minute || len(all[0].Targets) != 0 || all[0].Message != "" {
		t.Errorf("Parse gives %+v, %v", all, err)
	}
}

func TestParseRate_Refuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "/", "5", "5/", "/s", "+5/s", "-5/s", "5 /s", " 5/s", "5/S", "5/s/s", "1.5/s", "0/m", "100001/s", "6000001/m", "99999999999999999999/h"} {
		if r, err := rooms.ParseRate(in); !errors.Is(err, rooms.ErrRate) {
			t.Errorf("%q is %v, %v, want ErrRate", in, r, err)
		}
	}
}

func TestDemo_IsARoomThatTheFileWouldAccept(t *testing.T) {
	t.Parallel()
	r := rooms.Demo("127.0.0.1:8080")
	if err := r.Rules().Validate(); err != nil || r.Name != "demo" || r.OnStore != rooms.Hold || r.Default != "/" {
		t.Errorf("the demo room is %+v, %v", r, err)
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

// What SIGHUP does, and what the operator reads of it.
func TestRefresh_SaysWhatCameOfIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := rooms.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, content string
		g             *rooms.Registry
		want          []string
		not           string
	}{
		{"no file", "", rooms.Fixed(rooms.Demo("x")), []string{"level=INFO", "no rooms file"}, "rooms file read"},
		{"bad", "rooms:\n  - name: sale\n", opened, []string{"level=ERROR", "old rooms stay", file + ":2: room"}, "rooms file read"},
		{"good", good, opened, []string{"level=INFO", "rooms file read", "rooms=1"}, "ERROR"},
	} {
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		c.g.Refresh(slog.New(slog.NewTextHandler(&out, nil)))
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), c.not) {
				t.Errorf("%s: log is %q, want %q and not %q", c.name, out.String(), want, c.not)
			}
		}
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
	f.Add([]byte("rooms: &a [*a]\n"))
	f.Add([]byte("? [x]\n: {rooms: [{<<: {a: b}}]}\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := rooms.Parse("f", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("error does not name the file: %v", err)
			}
			return
		}
		for _, r := range all {
			if err := r.Rules().Validate(); err != nil {
				t.Fatalf("accepted a room that the line refuses: %v", err)
			}
			if len(r.Default) > queue.MaxTarget || strings.HasPrefix(r.Default, "//") || strings.HasPrefix(r.Default, "/r/") {
				t.Fatalf("accepted the default target %q", r.Default)
			}
		}
	})
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"600/m", "2/s", "30000/h", "0/s", "1e3/s", "١/s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := rooms.ParseRate(s)
		if err != nil {
			if !errors.Is(err, rooms.ErrRate) {
				t.Fatalf("%q: %v is not ErrRate", s, err)
			}
			return
		}
		interval := r.Interval()
		if interval < 10*time.Microsecond || interval%time.Microsecond != 0 || interval*time.Duration(r.Count) < r.Per {
			t.Fatalf("%q has the interval %v", s, interval)
		}
		if over := interval*time.Duration(r.Count) - r.Per; over >= time.Duration(r.Count)*time.Microsecond {
			t.Fatalf("%q loses %v in %v", s, over, r.Per)
		}
		if again, err := rooms.ParseRate(r.String()); err != nil || again != r {
			t.Fatalf("%q is %v, which reads as %v, %v", s, r, again, err)
		}
	})
}
