package rooms_test

import (
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
)

const gated = "rooms:\n  - name: sale\n    capacity: 1\n    rate: 1/s\n    match:\n      - host: shop.test\n        path: /Sale\n"

func TestParse_WhatTheGateNeeds(t *testing.T) {
	t.Parallel()
	all, err := rooms.Parse("rooms.yaml", []byte(gated+`      - {host: '*.shop.test:8443', case_sensitive: true}
    enabled: false
    exempt: {methods: [OPTIONS], paths: [/sale/terms], assets: false}
    renew: fixed
    queue_status: 503
    session: 2h
    origin: http://10.0.0.7:8080
`))
	if err != nil {
		t.Fatal(err)
	}
	r := all[0]
	if r.Enabled || r.Renew != rooms.RenewFixed || r.QueueStatus != 503 || r.MaxSession != 2*time.Hour || r.Exempt.Assets ||
		len(r.Match) != 2 || !r.Match[1].CaseSensitive || r.Exempt.Paths[0] != "/sale/terms" || r.Exempt.Methods[0] != "OPTIONS" {
		t.Errorf("the room is %+v", r)
	}
	if len(r.Targets) != 1 || r.Targets[0] != "shop.test" {
		t.Errorf("visitors may be sent to %v, want the exact host that is protected", r.Targets)
	}
	if all, err = rooms.Parse("rooms.yaml", []byte(gated)); err != nil {
		t.Fatal(err)
	}
	if r := all[0]; !r.Enabled || !r.Exempt.Assets || r.Renew != rooms.RenewSliding || r.MaxSession != time.Hour || r.QueueStatus != 200 {
		t.Errorf("the defaults are %+v", r)
	}
}

func TestParse_GateMistakesNameTheirLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"a star inside":      {gated + "      - host: a.*.test\n", `rooms.yaml:8: room "sale": match host "a.*.test" has a *`},
		"another case":       {gated + "      - {host: shop.test, path: /SALE/}\n", "rooms.yaml:8: room \"sale\": match shop.test/SALE/ is there already, in line 6"},
		"a tie":              {gated + "  - name: b\n    capacity: 1\n    rate: 1/s\n    match:\n      - {host: shop.test, path: /sale, case_sensitive: true}\n", "rooms.yaml:12: match: bad rule: room \"b\", rule shop.test/sale (case-sensitive): it ties with room \"sale\", rule shop.test/Sale, in line 6"},
		"all exempt":         {gated + "    exempt: {paths: [/]}\n", "exempts everything"},
		"no use of max":      {gated + "    renew: fixed\n    max_session: 2h\n", "no effect with renew: fixed"},
		"a parameter":        {gated + "      - {host: shop.test, path: '/a;b'}\n", "match path \"/a;b\""},
		"case as a word":     {gated + "      - {host: shop.test, path: /b, case_sensitive: maybe}\n", "rooms.yaml:8"},
		"enabled as a word":  {gated + "    enabled: 'yes'\n", `rooms.yaml:8: room "sale": enabled is "yes", want true or false`},
		"lower-case method":  {gated + "    exempt: {methods: [get]}\n", `exempt method "get"`},
		"exempt path":        {gated + "    exempt: {paths: [terms]}\n", `exempt path "terms"`},
		"unknown in exempt":  {gated + "    exempt: {files: [x]}\n", `unknown field "files" in exempt`},
		"renew":              {gated + "    renew: often\n", `rooms.yaml:8: room "sale": renew is "often", want sliding or fixed`},
		"max under session":  {gated + "    max_session: 1m\n", "max_session (1m0s) is shorter than session (10m0s)"},
		"queue status":       {gated + "    queue_status: 404\n", "queue_status is 404, want 200 or 503"},
		"origin without way": {"rooms:\n  - {name: a, capacity: 1, rate: 1/s, origin: 'http://x'}\n", "origin needs match"},
	} {
		if _, err := rooms.Parse("rooms.yaml", []byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}

func TestRegistry_MatchesAddresses(t *testing.T) {
	t.Parallel()
	all, err := rooms.Parse("rooms.yaml", []byte(gated))
	if err != nil {
		t.Fatal(err)
	}
	if found, ok, err := rooms.Fixed(all...).Matcher().Find("shop.test", "/sale/x"); err != nil || !ok || found.Room != "sale" {
		t.Errorf("found %+v, %v, %v", found, ok, err)
	}
}

func TestParse_StatesOfARoom(t *testing.T) {
	t.Parallel()
	all, err := rooms.Parse("rooms.yaml", []byte(gated+"    opens: 2026-12-24T10:00:00+09:00\n    max_waiting: 9\n"))
	if err != nil {
		t.Fatal(err)
	}
	opening := time.Date(2026, 12, 24, 1, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]rooms.State{opening.Add(-time.Second): rooms.NotOpen, opening: rooms.IsOpen} {
		if got := all[0].StateAt(at); got != want {
			t.Errorf("at %v the room is %s, want %s", at, got, want)
		}
	}
	for field, want := range map[string]string{"state: off": `state is "off"`, "opens: tomorrow": "opens is tomorrow, want a time with its zone", "opens: 2026-12-24T10:00:00": "with its zone", "max_waiting: 0": "max_waiting is 0"} {
		if _, err := rooms.Parse("rooms.yaml", []byte(gated+"    "+field+"\n")); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "rooms.yaml:8") {
			t.Errorf("%s: %v, want %q with its line", field, err, want)
		}
	}
}
