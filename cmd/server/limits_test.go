package main

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/limit/memory"
	"github.com/anteroom/anteroom/web"
)

// Every mistake of the limits file is told at the start, with its line; none at a hangup
// takes the policies away.
func TestLimitsFile_MistakesHaveTheirLine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "limits.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good = "policies: [{name: api, on_store_error: fail_open, rules: [{name: r, key: [user], algorithm: gcra, rate: 1/1s, burst: 1}]}]"
	env := func(name string) string {
		if name == "ANTEROOM_LIMITS" {
			return file
		}
		return ""
	}
	write(good)
	if s, err := parse(nil, env, io.Discard); err != nil || s.LimitsFile != file {
		t.Fatalf("a sound file: %q, %v", s.LimitsFile, err)
	}
	write("policies:\n  - name: api\n    on_store_error: maybe\n    burst: 3\n")
	_, err := parse(nil, env, io.Discard)
	for _, want := range []string{"limits.yaml:3: on_store_error", "limits.yaml:4: unknown field"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	limits, err := web.NewLimits(memory.New(), make([]byte, 32), 0, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	limits.Reload(file, log)
	write(good)
	limits.Reload(file, log)
	if s := said.String(); strings.Count(s, "level=ERROR") != 1 || !strings.Contains(s, "policies=1") {
		t.Errorf("the log says %s", s)
	}
}
