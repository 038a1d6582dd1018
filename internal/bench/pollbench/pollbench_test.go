package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestWhole_ReadsAnAnswerInPieces(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\nVary: Origin\r\n\r\n{}\n"
	for n := range len(answer) {
		// The first bytes alone are no status yet, and no fault.
		if done, err := whole([]byte(answer[:n])); done || err != nil {
			t.Errorf("%q: whole is %v, %v; want more to come", answer[:n], done, err)
		}
	}
	if done, err := whole([]byte(answer)); !done || err != nil {
		t.Errorf("whole is %v, %v; want the end", done, err)
	}
	for _, bad := range []string{
		strings.Replace(answer, "200", "503", 1), answer + "x",
		strings.Replace(answer, "Content-Length: 3\r\n", "", 1), strings.Replace(answer, ": 3", ": x", 1),
	} {
		if _, err := whole([]byte(bad)); err == nil {
			t.Errorf("whole takes %q", bad)
		}
	}
}

func TestLoad_AsksForTicketsUntilTheEnd(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer a" && got != "Bearer b" {
			t.Errorf("Authorization is %q", got)
		}
		_, _ = fmt.Fprint(w, "{}")
	}))
	defer server.Close()
	l, err := dial(server.Listener.Addr().String(), 2, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	r, err := l.run(t.Context(), 20*time.Millisecond)
	if err != nil || len(r.latencies) == 0 || r.took < 20*time.Millisecond {
		t.Errorf("%d requests in %v, %v", len(r.latencies), r.took, err)
	}
}

func TestTable_RatiosAreOfOneRound(t *testing.T) {
	t.Parallel()
	of := func(counts ...int) (rounds []round) {
		for _, n := range counts {
			rounds = append(rounds, round{took: time.Second, latencies: make([]time.Duration, n), server: time.Second})
		}
		return rounds
	}
	// The machine was half as quick in the second round.
	rows := []row{{"plain", of(400, 200, 400)}, {"alone", of(100, 50, 100)}, {"grouped", of(200, 100, 200)}}
	got := table(settings{}, "redis", rows)
	for _, want := range []string{
		"| grouped | 200 | 0.50 | 2.00 | 5000.0 |", "of alone 2.00, at least 1.50: met", "of plain 0.50, at least 0.60: missed",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing from\n%s", want, got)
		}
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	var r round
	for i := range 101 {
		r.latencies = append(r.latencies, time.Duration(100-i))
	}
	if a, b := r.quantile(0.5), r.quantile(0.99); a != 50 || b != 99 {
		t.Errorf("quantiles are %d and %d, want 50 and 99", a, b)
	}
}

func TestReplaceSection_KeepsTheRest(t *testing.T) {
	t.Parallel()
	doc := replaceSection("", "old\n")
	doc = "before\n" + doc + "after\n"
	if got, want := replaceSection(doc, "new\n"), strings.Replace(doc, "old", "new", 1); got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
}

func TestRedisCPU(t *testing.T) {
	t.Parallel()
	got, err := redisCPU(map[string]string{"used_cpu_user": "1.5", "used_cpu_sys": "0.25\r"})
	if err != nil || got != 1750*time.Millisecond {
		t.Errorf("redisCPU is %v, %v", got, err)
	}
	if _, err := redisCPU(nil); err == nil {
		t.Error("redisCPU takes an INFO without figures")
	}
}

func TestParse_RefusesNothingToDo(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--waiting=0", "--connections=0", "--seconds=0", "--rounds=0", "--x"} {
		if _, err := parse([]string{flag}); err == nil {
			t.Errorf("parse takes %s", flag)
		}
	}
}
