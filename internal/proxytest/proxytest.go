//go:build unix

// Package proxytest starts the real nginx, HAProxy and Caddy with the configurations that
// this project ships, in tests. Only addresses and paths are replaced. Without the program
// a test skips with a line that says how to get it; with CI=true it fails.
package proxytest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Addresses are where the shipped configurations expect things, and where a test has them.
type Addresses struct{ Listen, Anteroom, Shop string }

// Kind is one of the proxies.
type Kind struct {
	Name    string
	program string
	pkg     string // of Debian
	args    func(t *testing.T, shipped, dir string, at Addresses) []string
}

// All are the proxies that Debian has.
var All = []Kind{
	{"nginx", "nginx", "nginx-light", nginx},
	{"haproxy", "haproxy", "haproxy", haproxy},
	{"caddy", "caddy", "caddy", caddy},
}

// Start runs a proxy with the configuration in the folder shipped/<name> and returns its
// address. It ends with the test, by its process id.
func (k Kind) Start(t *testing.T, shipped string, at Addresses) string {
	t.Helper()
	path := k.find(t)
	if at.Listen == "" {
		at.Listen = FreeAddress(t)
	}
	dir := t.TempDir()
	cmd := exec.Command(path, k.args(t, filepath.Join(shipped, k.Name), dir, at)...)
	var said output
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", k.Name, said.String())
		}
	})
	await(t, k.Name, at.Listen, ended, &said)
	return at.Listen
}

func (k Kind) find(t *testing.T) string {
	t.Helper()
	for _, name := range []string{k.program, "/usr/sbin/" + k.program} { // often not on PATH
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("no %s: CI needs it", k.program)
	}
	t.Skipf("no %s: apt-get install %s to run this test", k.program, k.pkg)
	return ""
}

// FreeAddress is a loopback address that nobody listens on.
func FreeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func await(t *testing.T, name, address string, ended <-chan struct{}, said *output) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s ended:\n%s", name, said)
		case <-tick.C:
		}
	}
	t.Fatalf("%s does not listen:\n%s", name, said)
}

// output collects what a program says.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// replaced writes a shipped file with other addresses into dir; each of them must be there.
func replaced(t *testing.T, from, to string, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if !bytes.Contains(text, []byte(pairs[i])) {
			t.Fatalf("%s has no %q to replace", from, pairs[i])
		}
	}
	if err := os.WriteFile(to, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

func nginx(t *testing.T, shipped, dir string, at Addresses) []string {
	t.Helper()
	site := replaced(t, filepath.Join(shipped, "anteroom.conf"), filepath.Join(dir, "site.conf"),
		"127.0.0.1:8080", at.Anteroom, "127.0.0.1:3000", at.Shop, "listen 80;", "listen "+at.Listen+";")
	temp := ""
	for _, of := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += fmt.Sprintf("%s_temp_path %s/%s; ", of, dir, of)
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;"
	}
	main := fmt.Sprintf("daemon off; %s pid %s/pid; error_log stderr warn; worker_processes 1; events { worker_connections 512; }\nhttp { access_log off; %s include %s; }\n", user, dir, temp, site)
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"-p", dir, "-c", conf}
}

func haproxy(t *testing.T, shipped, dir string, at Addresses) []string {
	t.Helper()
	lua, err := filepath.Abs(filepath.Join(shipped, "anteroom.lua"))
	if err != nil {
		t.Fatal(err)
	}
	conf := replaced(t, filepath.Join(shipped, "haproxy.cfg"), filepath.Join(dir, "haproxy.cfg"),
		"/etc/haproxy/anteroom.lua", lua, "127.0.0.1:8080", at.Anteroom, "127.0.0.1:3000", at.Shop, "bind :80", "bind "+at.Listen)
	return []string{"-db", "-f", conf}
}

func caddy(t *testing.T, shipped, dir string, at Addresses) []string {
	t.Helper()
	_, port, _ := net.SplitHostPort(at.Listen)
	conf := replaced(t, filepath.Join(shipped, "Caddyfile"), filepath.Join(dir, "Caddyfile"),
		"127.0.0.1:8080", at.Anteroom, "127.0.0.1:3000", at.Shop, "\n:80 {", "\n{\n\tadmin off\n\tauto_https off\n}\n:"+port+" {\n\tbind 127.0.0.1")
	return []string{"run", "--config", conf, "--adapter", "caddyfile"}
}
