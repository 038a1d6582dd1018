package main

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/bench/load"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/web/gate"
)

func TestQuestion_IsAProxysQuestion(t *testing.T) {
	t.Parallel()
	text := again(gate.Nginx, []string{"token"})(nil, "gate.test")
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	cookie, err := r.Cookie(pass.CookieName(roomName))
	if err != nil || cookie.Value != "token" {
		t.Errorf("the pass's cookie is %v, %v", cookie, err)
	}
	if r.FormValue("for") != "nginx" || r.Header.Get("X-Forwarded-Host") != "shop.test" {
		t.Errorf("the question is %q", text)
	}
}

func TestOnce_ShowsEachPassOnce(t *testing.T) {
	t.Parallel()
	next := once(gate.Traefik, []string{"one-pass", "two-pass"})
	for _, want := range []string{"one-pass", "two-pass"} {
		if got := string(next(nil, "x")); !strings.Contains(got, "="+want+";") {
			t.Errorf("the question is %q, want it to show %s", got, want)
		}
	}
	if got := next(nil, "x"); got != nil {
		t.Errorf("a third question is %q", got)
	}
}

func TestTable_HoldsEachAgainstItsPlain(t *testing.T) {
	t.Parallel()
	row := func(name string, requests int) load.Row {
		return load.Row{Name: name, Rounds: []load.Round{{Took: time.Second, Latencies: make([]time.Duration, requests)}}}
	}
	rows := []load.Row{row("plain", 100), row("plain 204", 200), row("traefik", 80), row("nginx", 158), row("first sight", 20)}
	got := table(settings{}, "redis", rows)
	for _, want := range []string{
		"| traefik | 80 | 0.80 |", "| nginx | 158 | 0.79 |", "| first sight | 20 | 0.20 |",
		"traefik of plain 0.80, at least 0.80: met", "nginx of plain 204 0.79, at least 0.80: missed",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing from\n%s", want, got)
		}
	}
}

func TestParse_RefusesNothingToDo(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--passes=0", "--first=0", "--connections=0", "--seconds=0", "--rounds=0", "--x"} {
		if _, err := parse([]string{flag}); err == nil {
			t.Errorf("parse takes %s", flag)
		}
	}
}
