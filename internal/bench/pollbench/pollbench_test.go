package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/bench/load"
)

func TestPolls_AskForTickets(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer a" && got != "Bearer b" {
			t.Errorf("Authorization is %q", got)
		}
		if r.URL.Path != "/v1/rooms/bench/ticket" {
			t.Errorf("the path is %q", r.URL.Path)
		}
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	got, err := load.Fetch(t.Context(), server.Listener.Addr().String(), polls([]string{"a", "b"}), http.StatusOK)
	if err != nil || string(got.Body) != "{}" {
		t.Errorf("the answer is %q, %v", got.Body, err)
	}
}

func TestTable_RatiosAreOfOneRound(t *testing.T) {
	t.Parallel()
	of := func(counts ...int) (rounds []load.Round) {
		for _, n := range counts {
			rounds = append(rounds, load.Round{Took: time.Second, Latencies: make([]time.Duration, n), Server: time.Second})
		}
		return rounds
	}
	// The machine was half as quick in the second round.
	rows := []load.Row{
		{Name: "plain", Rounds: of(400, 200, 400)}, {Name: "alone", Rounds: of(100, 50, 100)}, {Name: "grouped", Rounds: of(200, 100, 200)},
		{Name: "memory", Rounds: of(360, 180, 360)},
	}
	got := table(settings{}, "redis", rows)
	for _, want := range []string{
		"| grouped | 200 | 0.50 | 2.00 | 5000.0 |", "of alone 2.00, at least 1.50: met", "of plain 0.50, at least 0.60: missed",
		"memory of plain 0.90, at least 0.85: met",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing from\n%s", want, got)
		}
	}
}

func TestParse_RefusesNothingToDo(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--waiting=0", "--connections=0", "--seconds=0", "--rounds=0", "--what=x", "--x"} {
		if _, err := parse([]string{flag}); err == nil {
			t.Errorf("parse takes %s", flag)
		}
	}
}
