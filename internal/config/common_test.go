package config_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/anteroom/anteroom/internal/config"
)

func nothing(string) string { return "" }

// told is what a small program with the shared flags and one of secrets was told.
type told struct {
	config.Common
	keys config.Secrets
}

func parse(args []string, env func(string) string, out io.Writer) (told, error) {
	var c told
	fs := pflag.NewFlagSet("p", pflag.ContinueOnError)
	c.Flags(fs, "127.0.0.1:1")
	fs.Var(&c.keys, "api-keys", "secrets")
	err := config.Parse(fs, args, env, out, c.Problems)
	return c, err
}

func TestParse_FlagsThenEnvironmentThenDefaults(t *testing.T) {
	t.Parallel()
	env := map[string]string{"ANTEROOM_LOG_LEVEL": "warn", "ANTEROOM_LOG_FORMAT": "json", "ANTEROOM_OPS_LISTEN": "", "ANTEROOM_ALLOW_EVICTION": "true"}
	c, err := parse([]string{"--log-level", "debug"}, func(k string) string { return env[k] }, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Common{LogLevel: "debug", LogFormat: "json", OpsListen: "127.0.0.1:1", AllowEviction: true}
	if c.Common != want {
		t.Errorf("settings are %+v, want %+v", c.Common, want)
	}
}

func TestParse_NamesEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	if err := os.WriteFile(file, []byte("rooms:\n  - name: a\n    capacity: 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"ANTEROOM_ALLOW_EVICTION": "perhaps", "ANTEROOM_LOG_FORMAT": "xml"}
	_, err := parse([]string{"stray", "--log-level=loud", "--ops-listen=9090", "--redis-url=http://h", "--rooms=" + file, "more"},
		func(k string) string { return env[k] }, io.Discard)
	if !errors.Is(err, config.ErrUsage) {
		t.Fatalf("error is %v", err)
	}
	for _, want := range []string{
		`unexpected argument "stray"`, `unexpected argument "more"`, "ANTEROOM_ALLOW_EVICTION", `--log-format is "xml"`, `--log-level is "loud"`,
		`--ops-listen is "9090"`, "--redis-url: ", "--rooms: " + file + `:2: room "a": rate is missing`, "--rooms: " + file + `:3: room "a": capacity is 0`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not say %q:\n%v", want, err)
		}
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !strings.HasPrefix(line, "usage: ") {
			t.Errorf("the line %q is no problem of its own", line)
		}
	}
}

// After a flag that cannot be read the others are unknown, so nothing is said of them.
func TestParse_UnreadableFlagStandsAlone(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"--redis", "--allow-eviction=perhaps", "--log-level"} {
		_, err := parse([]string{"--log-format=xml", arg}, nothing, io.Discard)
		if !errors.Is(err, config.ErrUsage) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

func TestListenProblem(t *testing.T) {
	t.Parallel()
	for address, good := range map[string]bool{
		":0": true, ":8080": true, "localhost:1": true, "[::1]:80": true, "0.0.0.0:65535": true, ":http": true,
		"": false, "8080": false, "h": false, ":": false, "h:": false, ":65536": false, ":-1": false, ":none-such": false, "::1:80": false,
	} {
		if got := config.ListenProblem("--listen", address); (got == nil) != good {
			t.Errorf("%q: %q, want accepted %v", address, got, good)
		}
	}
}

func TestParse_MissingRoomsFile(t *testing.T) {
	t.Parallel()
	_, err := parse([]string{"--rooms=/nowhere/rooms.yaml"}, nothing, io.Discard)
	if !errors.Is(err, config.ErrUsage) || !strings.Contains(err.Error(), "/nowhere/rooms.yaml") {
		t.Errorf("error is %v", err)
	}
}

// No message has a secret, whatever is wrong with it.
func TestSecrets_ReadAnythingAndShowNothing(t *testing.T) {
	t.Parallel()
	secret := `hunter2"x`
	env := map[string]string{"ANTEROOM_API_KEYS": " " + secret + ",, b\n", "ANTEROOM_REDIS_URL": "redis://:hunter2@h:port", "ANTEROOM_LOG_LEVEL": "loud"}
	var out strings.Builder
	c, err := parse(nil, func(k string) string { return env[k] }, &out)
	if err == nil || len(c.keys) != 2 || c.keys[0] != secret || c.keys[1] != "b" {
		t.Errorf("keys are %d, %v", len(c.keys), err)
	}
	if said := out.String() + err.Error() + fmt.Sprint(&c.keys); strings.Contains(said, "hunter2") {
		t.Errorf("it says %s", said)
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{nil, 0, ""},
		{pflag.ErrHelp, 0, ""},
		{fmt.Errorf("wrapped: %w", pflag.ErrHelp), 0, ""},
		{errors.New("broken"), 1, "p: broken\n"},
		{config.Refuse([]string{"a", "b"}), 2, "usage: a\nusage: b\np --help says more.\n"},
	} {
		var out strings.Builder
		if code := config.ExitCode("p", c.err, &out); code != c.code || out.String() != c.says {
			t.Errorf("%v: exit code %d and %q, want %d and %q", c.err, code, out.String(), c.code, c.says)
		}
	}
	if err := config.Refuse(nil); err != nil {
		t.Errorf("no problems are %v", err)
	}
}

func TestLogger_WritesAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ format, level, want string }{
		{"text", "warn", "level=WARN msg=w"}, {"json", "info", `"msg":"i"`},
	} {
		var out strings.Builder
		log := (&config.Common{LogFormat: c.format, LogLevel: c.level}).Logger(&out)
		log.Debug("d")
		log.Info("i")
		log.Warn("w")
		said := out.String()
		if strings.Contains(said, "msg=d") || !strings.Contains(said, c.want) || strings.Contains(said, "INFO") != (c.level == "info") {
			t.Errorf("%s at %s: %q", c.format, c.level, said)
		}
	}
}
