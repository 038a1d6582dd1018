package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/anteroom/anteroom/internal/config"
)

func TestParse_Help(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--help", "-h"} {
		var out strings.Builder
		if _, err := parse([]string{flag}, nothing, &out); !errors.Is(err, pflag.ErrHelp) {
			t.Errorf("%s: %v", flag, err)
		}
		help := out.String()
		for _, want := range []string{"USAGE", "EXAMPLES", "EXIT STATUS", "ANTEROOM_REDIS_URL", "SIGHUP", "--listen", "--public-url", "--rooms", "--data-dir", "--api-keys", "--admit", "--allow-eviction"} {
			if !strings.Contains(help, want) {
				t.Errorf("%s does not say %s", flag, want)
			}
		}
		for i, line := range strings.Split(help, "\n") {
			if len(line) > 130 {
				t.Errorf("line %d of the help has %d characters: %s", i+1, len(line), line)
			}
		}
	}
}

func TestParse_Settings(t *testing.T) {
	t.Parallel()
	const key = "0123456789abcdef"
	rooms := roomsFile(t, "name: a, capacity: 1, rate: 1/s")
	env := map[string]string{"ANTEROOM_LISTEN": ":1", "ANTEROOM_DATA_DIR": "/d", "ANTEROOM_API_KEYS": key + ", " + key, "ANTEROOM_ADMIT": "true", "ANTEROOM_PUBLIC_URL": "https://queue.test/"}
	s, err := parse([]string{"--listen=:2", "--redis-url=redis://h", "--rooms", rooms}, func(k string) string { return env[k] }, &strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen != ":2" || s.Keys.DataDir != "/d" || len(s.APIKeys) != 2 || s.APIKeys[1] != key || !s.Admit || s.RoomsFile != rooms {
		t.Errorf("settings are %+v", s)
	}
	if got := s.public(&net.TCPAddr{}).String(); got != "https://queue.test" {
		t.Errorf("the public address is %s", got)
	}
	s, err = parse(nil, nothing, &strings.Builder{})
	if err != nil || s.Listen != ":8080" || s.OpsListen != "127.0.0.1:9090" || s.Keys.DataDir != "anteroom-data" || s.Admit || s.RedisURL != "" {
		t.Errorf("the defaults are %+v, %v", s, err)
	}
}

func TestParse_NamesEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	bad := roomsFile(t, "name: a, capacity: 1, rate: 1/s, default_target: /r/a")
	_, err := parse([]string{"--listen=8080", "--redis-url=redis://h", "--api-keys=short", "--public-url=https://h/p", "--log-level=loud", "stray"}, nothing, &strings.Builder{})
	if !errors.Is(err, config.ErrUsage) {
		t.Fatalf("error is %v", err)
	}
	for _, want := range []string{`--listen is "8080"`, "--redis-url needs --rooms", "--api-keys", "--public-url", "--log-level", `"stray"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not say %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "short") {
		t.Errorf("error shows a key:\n%v", err)
	}
	_, err = parse([]string{"--rooms=" + bad}, nothing, &strings.Builder{})
	if !errors.Is(err, config.ErrUsage) || !strings.Contains(err.Error(), bad+":2: ") {
		t.Errorf("a bad rooms file: %v", err)
	}
}

func TestParse_PublicURL(t *testing.T) {
	t.Parallel()
	for in, good := range map[string]bool{
		"https://queue.test": true, "http://queue.test:8080/": true, "http://[::1]:8080": true,
		"queue.test": false, "ftp://queue.test": false, "https://": false, "https://:8080": false, "https://queue.test/p": false,
		"https://queue.test?a": false, "https://queue.test#a": false, "https://me@queue.test": false, "https://queue.test:x": false,
	} {
		if _, err := parse([]string{"--public-url", in}, nothing, &strings.Builder{}); (err == nil) != good {
			t.Errorf("%s: %v, want accepted %v", in, err, good)
		}
	}
}

func TestPublic_IsWhatABrowserOnThisMachineReaches(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0.0.0.0:80": "http://localhost:80", "[::]:80": "http://localhost:80", "127.0.0.1:80": "http://localhost:80",
		"192.0.2.1:80": "http://192.0.2.1:80", "[2001:db8::1]:80": "http://[2001:db8::1]:80",
	} {
		at, err := net.ResolveTCPAddr("tcp", in)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint((&settings{}).public(at)); got != want {
			t.Errorf("listening on %s is shown as %s, want %s", in, got, want)
		}
	}
}
