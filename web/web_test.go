package web_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// front is the whole HTTP front over one Redis, with one full room.
type front struct {
	t       *testing.T
	handler http.Handler
	room    string
	line    *queue.Line
	q       queue.Room
}

// newFront answers within a time that a busy machine has; the limit of production is a test
// of its own.
func newFront(t *testing.T, rdb *redis.Client) *front {
	t.Helper()
	return newFrontWithin(t, rdb, 10*time.Second)
}

func newFrontWithin(t *testing.T, rdb *redis.Client, limit time.Duration) *front {
	t.Helper()
	name := redistest.RoomName(t)
	all, err := rooms.Parse("rooms.yaml", []byte("rooms:\n  - {name: "+name+", capacity: 1, rate: 100/s, targets: [shop.test], default_target: 'https://shop.test/start'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	registry := rooms.Fixed(all...)
	tickets, err := queue.NewSigner(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	key, err := pass.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	passes, err := pass.NewSigner("test", key)
	if err != nil {
		t.Fatal(err)
	}
	line, log := queue.New(rdb), slog.New(slog.DiscardHandler)
	return &front{t: t, room: name, line: line, q: all[0].Queue(), handler: web.New(web.Config{
		StoreTimeout: limit, Line: line, Polls: queue.NewGroup(line, limit/2), Rooms: registry,
		Statuses: queue.NewWatch(line, registry.Queue, log), Tickets: tickets, Passes: passes,
		PublicURL: &url.URL{Scheme: "https", Host: "queue.test"}, Log: log, Metrics: prometheus.NewRegistry(),
		Ready: func(ctx context.Context) error { return rdb.Ping(ctx).Err() },
	}).Handler()}
}

// do sends one request to a path of the room and returns the answer with its JSON.
func (f *front) do(method, path, body string, header ...string) (*httptest.ResponseRecorder, map[string]any) {
	f.t.Helper()
	r := httptest.NewRequestWithContext(f.t.Context(), method, "https://queue.test/v1/rooms/"+path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	var v map[string]any
	if strings.Contains(w.Header().Get("Content-Type"), "json") {
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
			f.t.Fatalf("%s %s answered %q: %v", method, path, w.Body, err)
		}
	}
	return w, v
}

func TestBadInput_IsAClear4xx(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		f := newFront(t, rdb)
		ticket := f.room + "/ticket"
		for name, c := range map[string]struct {
			method, path, body string
			header             []string
			status             int
		}{
			"unknown room":               {"POST", "nobody/ticket", "", nil, 404},
			"no ticket":                  {"GET", ticket, "", nil, 401},
			"malformed ticket":           {"GET", ticket, "", []string{"Authorization", "Bearer x"}, 401},
			"a megabyte of ticket":       {"GET", ticket, "", []string{"Authorization", "Bearer " + strings.Repeat(".", 1<<20)}, 401},
			"claim without a ticket":     {"POST", ticket + "/claim", "", nil, 401},
			"body that is no JSON":       {"POST", ticket, "aaaa", nil, 400},
			"body over the limit":        {"POST", ticket, `{"target":"` + strings.Repeat("a", 17<<10) + `"}`, nil, 413},
			"junk over the limit":        {"POST", ticket, strings.Repeat("a", 20<<10), nil, 413},
			"JSON, then junk over it":    {"POST", ticket, "{}" + strings.Repeat(" ", 20<<10), nil, 413},
			"short idempotency key":      {"POST", ticket, "", []string{"Idempotency-Key", "short"}, 400},
			"another site's page":        {"POST", ticket, "", []string{"Origin", "https://evil.test"}, 403},
			"release without an API key": {"POST", f.room + "/release", "{}", nil, 401},
			"method":                     {"PUT", ticket, "", nil, 405},
		} {
			w, v := f.do(c.method, c.path, c.body, c.header...)
			if w.Code != c.status || w.Header().Get("Content-Type") != "application/problem+json" || v["status"] != float64(c.status) {
				t.Errorf("%s: answered %d %s %s, want %d as problem+json", name, w.Code, w.Header().Get("Content-Type"), w.Body, c.status)
			}
		}
	})
}

// A ticket of before a reset is treated as none, never a 5xx.
func TestOldGeneration_IsToldToRejoin(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		f := newFront(t, rdb)
		_, v := f.do("POST", f.room+"/ticket", "")
		token := "Bearer " + v["ticket"].(string)
		if _, err := f.line.Reset(t.Context(), f.q, 1); err != nil {
			t.Fatal(err)
		}
		if w, v := f.do("GET", f.room+"/ticket", "", "Authorization", token); w.Code != 401 || v["type"] != "/problems/rejoin" {
			t.Errorf("a poll answered %d %v", w.Code, v)
		}
		if w, _ := f.do("POST", f.room+"/ticket", "", "Authorization", token); w.Code != 201 {
			t.Errorf("a join answered %d %s, want a new place", w.Code, w.Body)
		}
	})
}

// WR-07, WR-06: a target off the room's list, or our own page, never reaches a redirect.
func TestTarget_OffTheListFallsBackToTheDefault(t *testing.T) {
	t.Parallel()
	f := newFront(t, redistest.Embedded(t))
	const start = "https://shop.test/start"
	for target, want := range map[string]string{
		"https://shop.test/cart?a=1&b=%26": "https://shop.test/cart?a=1&b=%26",
		"":                                 start, "//evil.test/x": start, `/\evil.test`: start, "/\t/evil.test": start,
		"https:evil.test": start, "https://shop.test.evil.test": start, "https://evilshop.test": start,
		"https://shop.test@evil.test": start, "javascript:alert(1)": start, "https://shop.test/\r\nX-A: b": start,
		"https://queue.test/r/sale?target=https%3A%2F%2Fshop.test%2Fcart":                   "https://shop.test/cart",
		"https://queue.test/r/sale?target=" + url.QueryEscape("/r/sale?target=%2Fr%2Fsale"): start,
	} {
		body, err := json.Marshal(map[string]string{"target": target})
		if err != nil {
			t.Fatal(err)
		}
		if _, v := f.do("POST", f.room+"/ticket", string(body)); v["target"] != want {
			t.Errorf("target %q became %v, want %s", target, v["target"], want)
		}
	}
}

// WR-14, UX-08: joins that race with one cookie, or with one key, meet at one place.
func TestJoin_TwentyAtOnceAreOnePlace(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for _, header := range [][]string{
			{"Cookie", "anteroom_v=" + queue.NewSecret()}, {"Idempotency-Key", queue.NewSecret()},
		} {
			f := newFront(t, rdb)
			f.do("POST", f.room+"/ticket", "") // takes the only slot: the others wait
			var wg sync.WaitGroup
			var mu sync.Mutex
			statuses := map[int]int{}
			for range 20 {
				wg.Go(func() {
					w, v := f.do("POST", f.room+"/ticket", "", header...)
					mu.Lock()
					defer mu.Unlock()
					if statuses[w.Code]++; v["position"] != 1.0 {
						t.Errorf("position is %v, want 1", v["position"])
					}
				})
			}
			wg.Wait()
			s, err := f.line.Status(t.Context(), f.q)
			if err != nil || s.Waiting != 1 || statuses[201] != 1 || statuses[200] != 19 {
				t.Errorf("%s: waiting has %d ids, answers %v, %v; want 1 id, one 201, 19 times 200", header[0], s.Waiting, statuses, err)
			}
		}
	})
}

// WR-15: fifty claims of one turn at once are one slot.
func TestClaim_FiftyAtOnceAreOneSlot(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		f := newFront(t, rdb)
		_, v := f.do("POST", f.room+"/ticket", "")
		token := "Bearer " + v["ticket"].(string)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if w, v := f.do("POST", f.room+"/ticket/claim", "", "Authorization", token); w.Code != 200 || !strings.HasPrefix(v["redirect"].(string), "https://shop.test/start?anteroom_pass=") {
					t.Errorf("a claim answered %d, %v", w.Code, v["redirect"])
				}
			})
		}
		wg.Wait()
		s, err := f.line.Status(t.Context(), f.q)
		if err != nil || s.Active != 1 || s.Counters.Claimed != 1 {
			t.Errorf("active has %d ids after %d claims, %v; want 1 and 1", s.Active, s.Counters.Claimed, err)
		}
	})
}

// Redis that hangs costs a visitor half a second, never the place.
func TestStoreAway_Is503WithinHalfASecond(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := newFrontWithin(t, server.Client(t), 400*time.Millisecond)
	_, v := f.do("POST", f.room+"/ticket", "")
	token := "Bearer " + v["ticket"].(string)
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	for _, call := range [][2]string{{"POST", ""}, {"GET", ""}, {"POST", "/claim"}} {
		began := time.Now()
		w, v := f.do(call[0], f.room+"/ticket"+call[1], "", "Authorization", token)
		took := time.Since(began)
		after, err := strconv.Atoi(w.Header().Get("Retry-After"))
		if w.Code != 503 || v["type"] != "/problems/store-away" || err != nil || after < 1 || took > 500*time.Millisecond {
			t.Errorf("%s %s answered %d %v after %v, Retry-After %q", call[0], call[1], w.Code, v, took, w.Header().Get("Retry-After"))
		}
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	if w, _ := f.do("GET", f.room+"/ticket", "", "Authorization", token); w.Code != 200 {
		t.Errorf("after Redis came back a poll answered %d %s", w.Code, w.Body)
	}
}
