package rehearse

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const crowdSize = 250

// small is a crowd of a few hundred for the fake.
func small(transport http.RoundTripper) Config {
	c := Defaults()
	c.URLs, c.Room, c.Transport = []string{"http://a.test", "http://b.test"}, "sale", transport
	c.Visitors, c.Arrive, c.Session, c.Seed, c.Timeout = crowdSize, 5*time.Second, 2*time.Second, 1, 3*time.Minute
	c.Within, c.SleepFor, c.Heartbeat, c.KeepPlace = 20*time.Second, 10*time.Second, 4*time.Second, time.Hour
	c.Connections = 8
	return c
}

func mustRun(t *testing.T, c Config) *Report {
	t.Helper()
	r, err := Run(t.Context(), c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestASoundRoomHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := mustRun(t, small(&network{handler: newFake(sound)}))
		if len(r.Broken) > 0 {
			t.Fatalf("broken: %q", r.Broken)
		}
		if r.Joined != crowdSize || r.HighestInside < 9 || r.HighestInside > 10 || r.Comparable < 150 {
			t.Errorf("joined %d, highest inside %d, comparable %d: want all, 9 or 10, at least 150", r.Joined, r.HighestInside, r.Comparable)
		}
		if e := r.Ended; e.NoShow == 0 || e.LeftLine == 0 || e.Served+e.NoShow+e.LeftLine+e.MissedTurn != crowdSize {
			t.Errorf("ended %+v: want all, some of each", e)
		}
		if r.CapacityFrom != "status" || r.Capacity != 10 || r.Probes == 0 {
			t.Errorf("capacity %d from %q, %d probes", r.Capacity, r.CapacityFrom, r.Probes)
		}
	})
}

func TestEachFlawIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flaw flaw
		want string // begin of what broke, last of all
	}{
		{overfull, "capacity: 13 "},
		{unfair, "order: "},
		{forgetful, "nobody is lost: "},
		{stuck, "nobody is lost: "},
		{lavish, "one turn a ticket: "},
		{sharing, "one turn a ticket: "},
		{revolving, "one turn a ticket: "},
		{rejoining, "one turn a ticket: "},
		{kicking, "nobody is lost: "},
	} {
		t.Run(string(c.flaw), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := mustRun(t, small(&network{handler: newFake(c.flaw)}))
				last := len(r.Broken) - 1
				if last < 0 || !strings.HasPrefix(r.Broken[last], c.want) || last > 0 && c.flaw != stuck {
					t.Errorf("broken: %q, want %q", r.Broken, c.want)
				}
			})
		})
	}
}

// Requests that fail, before or after the server did what they asked, break nothing.
func TestFaultsBreakNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c := small(&network{handler: newFake(sound), hook: func(n int, r *http.Request) (bool, error) {
			down := time.Since(begin) > 10*time.Second && time.Since(begin) < 15*time.Second
			switch {
			case down && r.URL.Host == "b.test":
				return false, syscall.ECONNREFUSED
			case n > 10 && n%20 == 0:
				return true, errTorn
			case n > 10 && n%20 == 7:
				return false, errBusy
			}
			return true, nil
		}})
		r := mustRun(t, c)
		if len(r.Broken) > 0 {
			t.Errorf("broken: %q", r.Broken)
		}
		for _, kind := range []string{"connection refused", "connection reset", "http 503"} {
			if r.Faults[kind] == 0 {
				t.Errorf("no fault %q in %v", kind, r.Faults)
			}
		}
	})
}

func TestAWipeIsOnlyAllowedWhenSaid(t *testing.T) {
	t.Parallel()
	for _, over := range []int{0, 10} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(sound)
			f.wipeAt = time.Now().Add(20 * time.Second)
			c := small(&network{handler: f})
			c.AllowOver = over
			c.Session = 5 * time.Second
			r := mustRun(t, c)
			if broke := len(r.Broken) > 0; broke != (over == 0) {
				t.Errorf("allowed over %d: broken %q", over, r.Broken)
			}
			if r.HighestInside <= 10 {
				t.Errorf("highest inside %d: the fake did not wipe", r.HighestInside)
			}
			var text bytes.Buffer
			_ = r.Text(&text)
			if said := strings.Contains(text.String(), "its store was wiped"); said != (over > 0) {
				t.Errorf("allowed over %d: says so: %v", over, said)
			}
		})
	}
}

func TestTheOriginMayRelease(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"the key of the shop", "a wrong one"} {
		synctest.Test(t, func(t *testing.T) {
			c := small(&network{handler: newFake(sound)})
			c.APIKey = key
			r := mustRun(t, c)
			if len(r.Broken) > 0 {
				t.Errorf("key %q: broken %q", key, r.Broken)
			}
			if wrong := r.Faults["http 401"] > 0; wrong != (key == "a wrong one") {
				t.Errorf("key %q: faults %v", key, r.Faults)
			}
		})
	}
}

func TestAnInterruptedRunIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var progress bytes.Buffer
		r, err := Run(ctx, small(&network{handler: newFake(sound)}), &progress)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Interrupted || r.Losses.Unfinished == 0 || len(r.Broken) != 2 {
			t.Errorf("interrupted %v, unfinished %d, broken %q", r.Interrupted, r.Losses.Unfinished, r.Broken)
		}
		if n := strings.Count(progress.String(), "\n"); n < 2 || n > 4 {
			t.Errorf("%d progress lines in 20 s, want one each 5 s:\n%s", n, &progress)
		}
	})
}

// TestMainOverTCP plays the whole command against a real listener.
func TestMainOverTCP(t *testing.T) {
	t.Parallel()
	f := newFake(sound)
	f.capacity = 50
	server := httptest.NewServer(f)
	defer server.Close()
	args := func(more ...string) []string {
		return append([]string{"--url", server.URL, "--room", "sale", "--visitors", "60", "--arrive", "100ms",
			"--sleep", "0", "--leave", "0%", "--noshow", "0", "--session", "50ms", "--json"}, more...)
	}
	var out, errs bytes.Buffer
	if status := Main(t.Context(), args(), &out, &errs); status != exitHeld {
		t.Fatalf("status %d\n%s%s", status, &out, &errs)
	}
	var r Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Ended.Served != 60 || r.Seed == 0 {
		t.Errorf("%v: served %d, seed %d", err, r.Ended.Served, r.Seed)
	}
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"help":         {[]string{"--help"}, exitHeld},
		"a broken one": {args("--capacity", "1", "--session", "500ms"), exitBroken},
		"no such flag": {args("--wat"), exitUsage},
		"no such room": {args("--room", "other"), exitUsage},
		"no server":    {[]string{"--url", "http://127.0.0.1:1"}, exitUsage},
	} {
		if got := Main(t.Context(), c.args, io.Discard, io.Discard); got != c.want {
			t.Errorf("%s: status %d, want %d", name, got, c.want)
		}
	}
}
