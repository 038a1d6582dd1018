package cmd_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/redistest"
)

// Production in small: two servers and an admitter on one Redis. Without an admitter
// nobody's turn comes; with one it does, and either server knows it.
func TestTogether_TheAdmitterLetsAVisitorIn(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	shared := []string{"--redis-url=" + redis.URL(), "--rooms=" + roomsFile(t, "  - {name: a, capacity: 1, rate: 100/s, default_target: /in}\n")}
	servers := append([]string{"--data-dir=" + t.TempDir()}, shared...)
	one, url := serve(t, servers...)
	two, other := serve(t, servers...)
	first, _ := join(t, url+"/v1/rooms/a")
	second, at := join(t, other+"/v1/rooms/a")
	if at["state"] != "waiting" || at["position"] != 1.0 {
		t.Fatalf("the second stands at %v", at)
	}
	if status, v := call(t, http.MethodDelete, url+"/v1/rooms/a/ticket", first); status != http.StatusOK {
		t.Fatalf("leaving answered %d %v", status, v)
	}
	if _, v := call(t, http.MethodGet, url+"/v1/rooms/a/ticket", second); v["state"] != "waiting" {
		t.Fatalf("without an admitter the second stands at %v", v)
	}
	admitter := play(t, "admitter", append([]string{"--ops-listen="}, shared...)...)
	await(t, "the second is admitted", func() bool {
		_, v := call(t, http.MethodGet, url+"/v1/rooms/a/ticket", second)
		return v["state"] == "admitted"
	})
	if status, v := call(t, http.MethodPost, url+"/v1/rooms/a/ticket/claim", second); status != http.StatusOK || v["redirect"] != "/in" {
		t.Errorf("the claim answered %d %v", status, v)
	}
	for _, p := range []*process{admitter, one, two} {
		p.end()
	}
}

// A rehearsal holds every promise: capacity, order, one turn a ticket, nobody lost.
func TestTogether_ARehearsalHolds(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	shared := []string{"--redis-url=" + redis.URL(), "--rooms=" + roomsFile(t, "  - {name: a, capacity: 10, rate: 1000/s, claim_window: 3s, heartbeat: 5s}\n")}
	servers := append([]string{"--data-dir=" + t.TempDir()}, shared...)
	_, url := serve(t, servers...)
	_, other := serve(t, servers...)
	play(t, "admitter", append([]string{"--ops-listen="}, shared...)...).await("admitting")
	p := play(t, "rehearse", "--url="+url+","+other, "--room=a", "--visitors=60", "--arrive=1s", "--capacity=10", "--session=200ms",
		"--heartbeat=5s", "--within=1s", "--sleep-for=1s", "--timeout=90s")
	p.wait(2 * time.Minute)
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("rehearse exited with %d: %s", code, p.said)
	}
}

func TestRehearse_SaysThatThereIsNobody(t *testing.T) {
	t.Parallel()
	p := play(t, "rehearse", "--url=http://127.0.0.1:1", "--timeout=5s")
	p.wait(30 * time.Second)
	if code := p.cmd.ProcessState.ExitCode(); code != 2 {
		t.Errorf("rehearse exited with %d: %s", code, p.said)
	}
}
