package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/anteroom/anteroom/internal/config"
)

const explainRooms = `rooms:
  - name: sale
    capacity: 1
    rate: 1/s
    match: [{host: shop.example, path: /sale}]
  - name: all
    capacity: 1
    rate: 1/s
    match: [{host: '*.example'}]
    exempt: {methods: [OPTIONS], paths: [/terms], assets: false}
  - name: off
    capacity: 1
    rate: 1/s
    enabled: false
    match: [{host: off.test, path: /Off, case_sensitive: true}]
`

func explainFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestExplain_SaysRoomRuleAndReason(t *testing.T) {
	t.Parallel()
	file := explainFile(t, explainRooms)
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"a page": {[]string{"https://shop.example/sale?x=1"}, []string{
			"request   GET https://shop.example/sale?x=1\n", "host      shop.example\n", "path      /sale\n", "room      sale, by the rule shop.example/sale\n",
			"exempt    no\n", "enabled   yes\n", "answer    it needs a pass", "> sale  shop.example/sale  ", "  all  *.example/  ", "another rule has a more exact host", "it is of another host",
		}},
		"another spelling":     {[]string{"HTTPS://Shop.Example:443//%53ale;v=1/x/"}, []string{"path      /Sale/x\n", "room      sale,"}},
		"no path":              {[]string{"https://shop.example?x"}, []string{"path      /\n", "room      all,"}},
		"a picture":            {[]string{"https://shop.example/sale/x.png", "--header", "Sec-Fetch-Dest: image"}, []string{"exempt    yes: asset .png\n", "without a turn"}},
		"a picture as a page":  {[]string{"--header=sec-fetch-mode:navigate", "https://shop.example/sale/x.png"}, []string{"exempt    no\n"}},
		"a method":             {[]string{"--method", "options", "https://a.example/"}, []string{"request   OPTIONS ", "exempt    yes: method OPTIONS\n"}},
		"a preflight":          {[]string{"--method", "OPTIONS", "--header", "Origin: https://b.test", "--header", "Access-Control-Request-Method: GET", "https://shop.example/sale"}, []string{"exempt    yes: a CORS preflight\n"}},
		"a path":               {[]string{"https://a.example/terms/x#y"}, []string{"path      /terms/x\n", "exempt    yes: exempt path /terms\n"}},
		"not enabled":          {[]string{"https://off.test/Off"}, []string{"off.test/Off (case-sensitive)\n", "enabled   no\n", "everybody passes, because"}},
		"no room":              {[]string{"https://off.test/off"}, []string{"room      none: no rule applies\n", "answer    everybody passes\n", "the path is not under /Off"}},
		"a path that is none":  {[]string{"https://shop.example/%zz"}, []string{"answer    400: match: "}},
		"an encoded zero byte": {[]string{"https://shop.example/a%00"}, []string{"answer    400: match: "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := explain(append([]string{"--rooms", file}, c.args...), nothing, &out); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the answer does not say %q:\n%s", want, out.String())
				}
			}
		})
	}
}

func TestExplain_TakesTheRoomsFileFromTheEnvironment(t *testing.T) {
	t.Parallel()
	file := explainFile(t, explainRooms)
	env := func(name string) string { return map[string]string{"ANTEROOM_ROOMS": file}[name] }
	if err := explain([]string{"https://shop.example/"}, env, io.Discard); err != nil {
		t.Error(err)
	}
}

func TestExplain_RefusesWithStatus2(t *testing.T) {
	t.Parallel()
	file := explainFile(t, explainRooms)
	for name, args := range map[string][]string{
		"no url":         {"--rooms", file},
		"two urls":       {"--rooms", file, "https://a.test", "https://b.test"},
		"a path":         {"--rooms", file, "/sale"},
		"no host":        {"--rooms", file, "https:///sale"},
		"another scheme": {"--rooms", file, "ftp://a.test/"},
		"a user":         {"--rooms", file, "https://me@a.test/"},
		"a bad port":     {"--rooms", file, "https://a.test:x/"},
		"no rooms":       {"https://a.test/"},
		"no such file":   {"--rooms", file + ".not", "https://a.test/"},
		"a bad file":     {"--rooms", explainFile(t, "rooms:\n  - name: sale\n"), "https://a.test/"},
		"a bad header":   {"--rooms", file, "--header", "image", "https://a.test/"},
		"unknown flag":   {"--rooms", file, "--verb", "https://a.test/"},
	} {
		err := explain(args, nothing, io.Discard)
		if !errors.Is(err, config.ErrUsage) || config.ExitCode("server explain", err, io.Discard) != 2 {
			t.Errorf("%s: %v, want a usage error", name, err)
		}
	}
	var out strings.Builder
	if err := explain([]string{"--help"}, nothing, &out); !errors.Is(err, pflag.ErrHelp) || !strings.Contains(out.String(), "USAGE") {
		t.Errorf("--help: %v, %q", err, out.String())
	}
}
