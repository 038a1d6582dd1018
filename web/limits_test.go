package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/limit/redislimit"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web"
)

const apiKey = "0123456789abcdef"

// limited is a front over sockets whose limits are in Redis.
type limited struct {
	*httptest.Server
	t       *testing.T
	room    string
	line    *queue.Line
	q       queue.Room
	metrics *prometheus.Registry
	limits  *web.Limits
}

func newLimited(t *testing.T, rdb *redis.Client, policies string) *limited {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	f := &limited{t: t, room: redistest.RoomName(t), metrics: prometheus.NewRegistry()}
	all, err := rooms.Parse("rooms.yaml", []byte("rooms:\n  - {name: "+f.room+", capacity: 1, rate: 100/s, targets: [shop.test], default_target: 'https://shop.test/start'}\n"))
	must(err)
	tickets, err := queue.NewSigner(make([]byte, 32))
	must(err)
	key, err := pass.GenerateKey()
	must(err)
	passes, err := pass.NewSigner("test", key)
	must(err)
	f.limits, err = web.NewLimits(redislimit.New(rdb, redislimit.WithPrefix(f.room), redislimit.WithTag("t")), make([]byte, 32), 10*time.Second, f.metrics)
	must(err)
	if policies != "" {
		file := filepath.Join(t.TempDir(), "limits.yaml")
		must(os.WriteFile(file, []byte(policies), 0o600))
		own, err := web.ReadLimits(file)
		must(err)
		must(f.limits.Set(own))
	}
	registry, log := rooms.Fixed(all...), slog.New(slog.DiscardHandler)
	f.line, f.q = queue.New(rdb), all[0].Queue()
	f.Server = httptest.NewServer(web.New(web.Config{
		StoreTimeout: 10 * time.Second, Line: f.line, Polls: queue.NewGroup(f.line, 10*time.Second), Rooms: registry,
		Statuses: queue.NewWatch(f.line, registry.Queue, log), Tickets: tickets, Passes: passes, Limits: f.limits, APIKeys: []string{apiKey},
		PublicURL: &url.URL{Scheme: "https", Host: "queue.test"}, Log: log, Metrics: f.metrics, Ready: func(context.Context) error { return nil },
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}).Handler())
	t.Cleanup(f.Close)
	return f
}

func (f *limited) do(method, path, body string, header ...string) (*http.Response, map[string]any) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.URL+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := f.Client().Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	var v map[string]any
	if strings.Contains(resp.Header.Get("Content-Type"), "json") {
		if err := json.Unmarshal(data, &v); err != nil {
			f.t.Fatalf("%s %s answered %q: %v", method, path, data, err)
		}
	}
	return resp, v
}

func (f *limited) check(policy, body string) (*http.Response, map[string]any) {
	f.t.Helper()
	return f.do("POST", "/v1/limits/"+policy, body, "Authorization", "Bearer "+apiKey)
}

const apiPolicies = `policies:
  - name: api
    on_store_error: fail_closed
    rules:
      - {name: user, key: [user], algorithm: gcra, rate: 3/1h, burst: 3, max_cost: 2}
      - {name: address, key: [address], algorithm: fixed_window, rate: 5/1h, burst: 5, max_cost: 2}
  - name: watched
    mode: shadow
    on_store_error: fail_open
    rules: [{name: key, key: ["header:X-Api-Key"], algorithm: token_bucket, rate: 1/1h, burst: 1}]
`

func TestCheckLimit_DecidesAllOrNothing(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		f := newLimited(t, rdb, apiPolicies)
		for i, c := range []struct {
			key, cost string
			allowed   bool
			rule      string
			remaining float64
		}{
			{`"user":"a","address":"2001:db8::1"`, "2", true, "api_user", 1},
			{`"user":"a","address":"2001:db8::1"`, "2", false, "api_user", 1},
			{`"user":"a","address":"2001:db8::2"`, "1", true, "api_user", 0},
			{`"user":"b","address":"2001:db8::3"`, "2", true, "api_address", 0}, // one subscriber
			{`"user":"b","address":"2001:db8::1"`, "1", false, "api_address", 0},
			{`"user":"b","address":"192.0.2.1"`, "1", true, "api_user", 0}, // the refused call took nothing
		} {
			resp, v := f.check("api", `{"key":{`+c.key+`},"cost":`+c.cost+`}`)
			if resp.StatusCode != 200 || v["allowed"] != c.allowed || v["rule"] != c.rule || v["remaining"] != c.remaining {
				t.Errorf("call %d: status %d, %v; want allowed %v by %s with %v left", i, resp.StatusCode, v, c.allowed, c.rule, c.remaining)
			}
			if wait, _ := v["retry_after_ms"].(float64); (wait > 0) == c.allowed {
				t.Errorf("call %d: retry after %v ms", i, wait)
			}
			if got := resp.Header.Get("RateLimit"); !strings.HasPrefix(got, `"`+c.rule+`";r=`) || resp.Header.Get("RateLimit-Policy") != `"api_user";q=3;w=3600, "api_address";q=5;w=3600` || resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("call %d: the headers are %v", i, resp.Header)
			}
		}
		if got, want := f.counted(), "api_address allowed 1, api_address refused 1, api_user allowed 3, api_user refused 1"; got != want {
			t.Errorf("the metrics say %s, want %s", got, want)
		}
	})
}

// counted are the decisions in the metrics, by rule and outcome.
func (f *limited) counted() string {
	f.t.Helper()
	families, err := f.metrics.Gather()
	if err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for _, family := range families {
		if family.GetName() != "anteroom_limit_decisions_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			out = append(out, fmt.Sprintf("%s %s %v", labels["rule"], labels["outcome"], m.GetCounter().GetValue()))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestCheckLimit_BatchAndShadow(t *testing.T) {
	t.Parallel()
	f := newLimited(t, redistest.Start(t).Client(t), apiPolicies)
	resp, v := f.check("watched", `{"checks":[{"key":{"header:x-api-key":"k"}},{"key":{"header:X-Api-Key":"k"}},{"key":{"header:X-Api-Key":"other"}}]}`)
	var shadow []any
	for _, r := range v["results"].([]any) {
		one := r.(map[string]any)
		if one["allowed"] != true {
			t.Errorf("a policy in the shadow refused: %v", one)
		}
		shadow = append(shadow, one["shadow_refused"])
	}
	if got := fmt.Sprint(shadow); resp.StatusCode != 200 || got != "[<nil> true <nil>]" || resp.Header.Get("RateLimit") != "" {
		t.Errorf("status %d, shadow_refused is %s, headers %v", resp.StatusCode, got, resp.Header)
	}
	resp, v = f.check("api", `{"checks":[{"key":{"user":"z","address":"192.0.2.9"},"cost":2},{"key":{"user":"z"}}]}`)
	if resp.StatusCode != 400 || !strings.HasPrefix(v["detail"].(string), "checks[1]: ") {
		t.Errorf("a bad second call: status %d, %v", resp.StatusCode, v)
	}
	if _, v = f.check("api", `{"key":{"user":"z","address":"192.0.2.9"},"cost":2}`); v["remaining"] != 1.0 {
		t.Errorf("a batch that was refused took: %v", v)
	}
}

func TestCheckLimit_BadRequests(t *testing.T) {
	t.Parallel()
	f := newLimited(t, redistest.Start(t).Client(t), apiPolicies)
	good := `{"key":{"user":"a","address":"192.0.2.1"}}`
	for name, c := range map[string]struct {
		policy, body string
		status       int
	}{
		"unknown policy":       {"nothing", good, 404},
		"a door of ours":       {"door-join", good, 404},
		"no JSON":              {"api", "{", 400},
		"a misspelt field":     {"api", `{"keys":{}}`, 400},
		"two objects":          {"api", good + good, 400},
		"a part is missing":    {"api", `{"key":{"user":"a"}}`, 400},
		"an empty part":        {"api", `{"key":{"user":"","address":"192.0.2.1"}}`, 400},
		"no address":           {"api", `{"key":{"user":"a","address":"home"}}`, 400},
		"cost 0":               {"api", `{"key":{"user":"a","address":"192.0.2.1"},"cost":0}`, 400},
		"cost below 0":         {"api", `{"key":{"user":"a","address":"192.0.2.1"},"cost":-1}`, 400},
		"cost above the most":  {"api", `{"key":{"user":"a","address":"192.0.2.1"},"cost":3}`, 400},
		"cost with a fraction": {"api", `{"key":{"user":"a","address":"192.0.2.1"},"cost":1.5}`, 400},
		"no checks":            {"api", `{"checks":[]}`, 400},
		"101 checks":           {"api", `{"checks":[` + strings.Repeat(`{},`, 100) + `{}]}`, 400},
		"checks and a key":     {"api", `{"key":{},"checks":[{}]}`, 400},
		"too large":            {"api", `{"key":{"user":"` + strings.Repeat("x", 17<<10) + `"}}`, 413},
	} {
		if resp, v := f.check(c.policy, c.body); resp.StatusCode != c.status || v["type"] == nil {
			t.Errorf("%s: status %d, %v; want %d", name, resp.StatusCode, v, c.status)
		}
	}
	for _, key := range []string{"", "Bearer wrong"} {
		if resp, _ := f.do("POST", "/v1/limits/api", good, "Authorization", key); resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("API key %q: status %d, want 401", key, resp.StatusCode)
		}
	}
}

const tightJoin = `policies:
  - name: door-join
    on_store_error: fail_closed
    rules:
      - {name: address, key: [address], algorithm: gcra, rate: 2/1h, burst: 2}
      - {name: room, key: [room], algorithm: gcra, rate: 3/1h, burst: 3}
`

// RL-14: a join is counted by the address that a trusted proxy saw; what a visitor wrote
// before it changes nothing. A refused join is 429 and writes nothing to the line.
func TestJoinDoor_RL14_ByAddressAndRoom(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		f := newLimited(t, rdb, tightJoin)
		for i, c := range []struct {
			forwarded string
			status    int
		}{
			{"192.0.2.1", 201}, {"203.0.113.1, 192.0.2.1", 201}, {"203.0.113.2, 192.0.2.1", 429},
			{"192.0.2.2", 201}, {"192.0.2.3", 429}, // the room's
		} {
			resp, v := f.do("POST", "/v1/rooms/"+f.room+"/ticket", "", "X-Forwarded-For", c.forwarded)
			if resp.StatusCode != c.status || (c.status == 429) != (v["type"] == "/problems/too-many") || (c.status == 429) != (resp.Header.Get("Retry-After") != "") {
				t.Errorf("join %d from %s: status %d, %v; want %d", i, c.forwarded, resp.StatusCode, v, c.status)
			}
		}
		s, err := f.line.Status(t.Context(), f.q)
		if err != nil || s.Waiting+s.Active != 3 {
			t.Errorf("waiting and active have %d ids, %v; want 3", s.Waiting+s.Active, err)
		}
	})
}

// Who has a place is not counted as a new visitor.
func TestJoinDoor_AnOldTicketIsNoNewVisitor(t *testing.T) {
	t.Parallel()
	f := newLimited(t, redistest.Start(t).Client(t), tightJoin)
	_, v := f.do("POST", "/v1/rooms/"+f.room+"/ticket", "")
	for range 5 {
		if resp, _ := f.do("POST", "/v1/rooms/"+f.room+"/ticket", "", "Authorization", "Bearer "+v["ticket"].(string)); resp.StatusCode != 200 {
			t.Fatalf("a join again: status %d", resp.StatusCode)
		}
	}
}

// WR-19: 300 tickets behind one address poll at the announced interval and none is refused;
// one that polls far more often is told so, and only that one; it keeps its place.
func TestPollDoor_WR19_OnlyTheAbusiveTicketIsSlowed(t *testing.T) {
	t.Parallel()
	f := newLimited(t, redistest.Start(t).Client(t), "")
	poll := func(token string) *http.Response {
		resp, _ := f.do("GET", "/v1/rooms/"+f.room+"/ticket", "", "Authorization", "Bearer "+token, "X-Forwarded-For", "192.0.2.1")
		return resp
	}
	tokens := make([]string, 300)
	for i := range tokens {
		resp, v := f.do("POST", "/v1/rooms/"+f.room+"/ticket", "", "X-Forwarded-For", "192.0.2.1")
		if resp.StatusCode != 201 {
			t.Fatalf("join %d: status %d", i, resp.StatusCode)
		}
		tokens[i] = v["ticket"].(string)
	}
	refused := 0
	for range 100 {
		if resp := poll(tokens[0]); resp.StatusCode == 429 {
			if refused++; resp.Header.Get("Retry-After") == "" {
				t.Error("a refused poll has no Retry-After")
			}
		}
	}
	if refused == 0 {
		t.Error("100 polls at once were all answered")
	}
	for range 2 {
		for i, token := range tokens[1:] {
			if resp := poll(token); resp.StatusCode != 200 {
				t.Fatalf("ticket %d: status %d", i+1, resp.StatusCode)
			}
		}
	}
	if s, err := f.line.Status(t.Context(), f.q); err != nil || s.Waiting+s.Active != 300 {
		t.Errorf("waiting and active have %d ids, %v; want 300", s.Waiting+s.Active, err)
	}
}

// WR-19: eight tabs of one ticket that poll every two seconds, early by a tenth at worst and
// at times all together, are never refused.
func TestPollDoor_WR19_TabsAtTheAnnouncedIntervalAreNeverRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := web.NewLimits(nil, make([]byte, 32), 0, prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		next := make([]time.Time, 8)
		for range 4000 {
			tab := 0
			for i := range next {
				if next[i].Before(next[tab]) {
					tab = i
				}
			}
			time.Sleep(time.Until(next[tab]))
			if err := web.PollDoor(l, t.Context(), "ticket"); err != nil {
				t.Fatalf("after %v: %v", time.Now(), err)
			}
			next[tab] = time.Now().Add(time.Duration(float64(2*time.Second) * (1 + 0.1*random.Float64())))
		}
	})
}

func TestReadLimits_DoorsCountByWhatTheyKnow(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"door-join, on_store_error: fail_open, rules: [{name: r, key: [user]",
		"door-poll, on_store_error: fail_open, rules: [{name: r, key: [address]",
	} {
		file := filepath.Join(t.TempDir(), "limits.yaml")
		if err := os.WriteFile(file, []byte("policies: [{name: "+body+", algorithm: gcra, rate: 1/1s, burst: 1}]}]"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := web.ReadLimits(file); err == nil || !strings.Contains(err.Error(), "limits.yaml: web: unusable policy of a door") {
			t.Errorf("%s: %v, want ErrDoor with the file", body, err)
		}
	}
}
