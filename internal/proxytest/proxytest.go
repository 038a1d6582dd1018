//go:build unix

// Package proxytest starts the real nginx, HAProxy and Caddy with the configurations that
// this project ships, in tests. Only addresses and paths are replaced, and what a test says
// an operator would change. Without the program a test skips with a line that says how to
// get it; with CI=true it fails.
package proxytest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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

// Addresses are where a test has what the shipped configurations have at :80,
// 127.0.0.1:8080 and 127.0.0.1:3000. An empty Listen is a free one.
type Addresses struct{ Listen, Anteroom, Shop string }

// Edit is a change that an operator makes by hand: Old is in the file as it is shipped.
type Edit struct{ Old, New string }

// Kind is one of the proxies.
type Kind struct {
	Name    string
	program string
	pkg     string // of Debian
	main    string // the shipped file that has the addresses
	args    func(t *testing.T, c config) []string
	// Open is the change after which everybody is let in while Anteroom is down.
	Open Edit
}

// config is a shipped configuration with a test's addresses.
type config struct {
	shipped string // the folder it was shipped in
	dir     string // of this run
	file    string // in dir
	at      Addresses
}

// All are the proxies that Debian has.
var All = []Kind{
	{
		Name: "nginx", program: "nginx", pkg: "nginx-light", main: "anteroom.conf", args: nginx,
		Open: Edit{"error_page 500 = @anteroom_closed;", "error_page 500 = @anteroom_open;"},
	},
	{
		Name: "haproxy", program: "haproxy", pkg: "haproxy", main: "haproxy.cfg", args: haproxy,
		Open: Edit{"127.0.0.1:8080 closed if", "127.0.0.1:8080 open if"},
	},
	{
		Name: "caddy", program: "caddy", pkg: "caddy", main: "Caddyfile", args: caddy,
		Open: Edit{"# reverse_proxy 127.0.0.1:3000", "reverse_proxy 127.0.0.1:3000"},
	},
}

// Start runs a proxy with the configuration in the folder shipped/<name> and returns its
// address. It ends with the test, by its process id; of a test that failed it shows what
// the proxy said.
func (k Kind) Start(t *testing.T, shipped string, at Addresses, edits ...Edit) string {
	t.Helper()
	path := k.find(t)
	if at.Listen == "" {
		at.Listen = FreeAddress(t)
	}
	c := config{shipped: filepath.Join(shipped, k.Name), dir: t.TempDir(), at: at}
	c.file = filepath.Join(c.dir, k.main)
	edited(t, filepath.Join(c.shipped, k.main), c.file, edits)
	cmd := exec.Command(path, k.args(t, c)...)
	var said output
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "HOME="+c.dir, "XDG_DATA_HOME="+c.dir, "XDG_CONFIG_HOME="+c.dir)
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

// Need skips a test whose proxy is not installed, or fails it where CI=true.
func (k Kind) Need(t *testing.T) { t.Helper(); k.find(t) }

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

// FreeAddress is a loopback address that nobody listens on. Its port is below those that
// systems give out by themselves, so that nobody gets it by chance before it is used.
func FreeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 18000+rand.IntN(14000)) //nolint:gosec // a port is no secret
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no free port between 18000 and 32000")
	return ""
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

// edited copies a shipped file with changes, each of which must find what it changes.
func edited(t *testing.T, from, to string, edits []Edit) {
	t.Helper()
	read, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	text := string(read)
	for _, e := range edits {
		if !strings.Contains(text, e.Old) {
			t.Fatalf("%s has no %q to replace", from, e.Old)
		}
		text = strings.ReplaceAll(text, e.Old, e.New)
	}
	if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// place puts a test's addresses, and more of its own, into the configuration. The ports of
// the shipped files are below those of tests, so no edit finds what another one wrote.
func (c config) place(t *testing.T, more ...Edit) {
	t.Helper()
	edited(t, c.file, c.file, append([]Edit{{"127.0.0.1:8080", c.at.Anteroom}, {"127.0.0.1:3000", c.at.Shop}}, more...))
}

func nginx(t *testing.T, c config) []string {
	t.Helper()
	c.place(t, Edit{"listen 80 default_server;", "listen " + c.at.Listen + " default_server;"}, Edit{"listen 80;", "listen " + c.at.Listen + ";"}, Edit{"server_name shop.example;", "server_name 127.0.0.1;"})
	temp := ""
	for _, of := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += fmt.Sprintf("%s_temp_path %s/%s; ", of, c.dir, of)
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;"
	}
	whole := filepath.Join(c.dir, "nginx.conf")
	text := fmt.Sprintf("daemon off; %s pid %s/pid; error_log stderr warn; worker_processes 1; events { worker_connections 512; }\nhttp { access_log off; %s include %s; }\n", user, c.dir, temp, c.file)
	if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"-p", c.dir, "-e", "stderr", "-c", whole}
}

func haproxy(t *testing.T, c config) []string {
	t.Helper()
	lua, err := filepath.Abs(filepath.Join(c.shipped, "anteroom.lua"))
	if err != nil {
		t.Fatal(err)
	}
	c.place(t, Edit{"/etc/haproxy/anteroom.lua", lua}, Edit{"bind :80", "bind " + c.at.Listen}, Edit{"-i shop.example", "-i 127.0.0.1"})
	return []string{"-db", "-f", c.file}
}

func caddy(t *testing.T, c config) []string {
	t.Helper()
	_, port, err := net.SplitHostPort(c.at.Listen)
	if err != nil {
		t.Fatal(err)
	}
	c.place(t, Edit{"\nshop.example {", "\n{\n\tadmin off\n\tauto_https off\n}\n\nhttp://127.0.0.1:" + port + " {\n\tbind 127.0.0.1"})
	return []string{"run", "--config", c.file, "--adapter", "caddyfile"}
}
