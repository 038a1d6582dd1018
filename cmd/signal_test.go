//go:build unix

package cmd_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/redistest"
)

func TestHangup_ServerTakesGoodRoomsAndKeepsThemOverBadOnes(t *testing.T) {
	t.Parallel()
	file := roomsFile(t, "  - {name: a, capacity: 1, rate: 1/s}\n")
	p, url := serve(t, "--rooms="+file)
	capacity := func() any {
		_, v := call(t, http.MethodGet, url+"/v1/rooms/a", "")
		return v["capacity"]
	}
	write(t, file, "  - {name: a, capacity: 2, rate: 1/s}\n  - {name: b, capacity: 3, rate: 1/s}\n")
	p.signal(syscall.SIGHUP)
	p.await(`rooms file read.* rooms=2`)
	if got := capacity(); got != 2.0 {
		t.Errorf("after the reload the capacity is %v, want 2", got)
	}
	join(t, url+"/v1/rooms/b")

	write(t, file, "  - {name: a, capacity: 9, rate: 1/s}\n  - {name: b}\n")
	p.signal(syscall.SIGHUP)
	p.await(`old rooms stay in force.*` + file + `:3: room`)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	p.await(`old rooms stay in force.*no such file`)
	if got := capacity(); got != 2.0 {
		t.Errorf("after bad reloads the capacity is %v, want 2", got)
	}
	p.end()
}

func TestHangup_AdmitterToo(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	file := roomsFile(t, "  - {name: a, capacity: 1, rate: 1/s}\n")
	p := play(t, "admitter", "--redis-url="+redis.URL(), "--rooms="+file, "--ops-listen=")
	p.await("admitting")
	write(t, file, "  - {name: a}\n")
	p.signal(syscall.SIGHUP)
	p.await(`old rooms stay in force.*` + file + `:2: room`)
	write(t, file, "  - {name: a, capacity: 2, rate: 1/s}\n")
	p.signal(syscall.SIGHUP)
	p.await(`rooms file read`)
	p.end()
}

// SIGHUP ends a program that does not listen to it, and must not say that a file was read.
func TestHangup_WithoutARoomsFile(t *testing.T) {
	t.Parallel()
	p, _ := serve(t)
	p.signal(syscall.SIGHUP)
	p.await("no rooms file to read again")
	p.end()
	if strings.Contains(p.said.String(), "rooms file read") {
		t.Errorf("it says %s", p.said)
	}
}

// Ctrl-C twice: the operator does not wait for a client that is slow.
func TestSecondSignal_EndsAtOnce(t *testing.T) {
	t.Parallel()
	p, url := serve(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "POST /v1/rooms/demo/ticket HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server says %q, %v", line, err)
	}
	p.signal(os.Interrupt)
	await(t, "it takes no connections", func() bool {
		c, err := net.Dial("tcp", conn.RemoteAddr().String())
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	p.signal(os.Interrupt)
	p.wait(5 * time.Second) // the drain would take 10
	if p.cmd.ProcessState.Exited() {
		t.Errorf("it exited with %d, want an end by the signal", p.cmd.ProcessState.ExitCode())
	}
}

// Without its Redis an embedded server is of no use: it ends, and says why.
func TestEmbeddedRedisThatDies_EndsTheServer(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	p, _ := serve(t, "--log-level=debug")
	pid, err := strconv.Atoi(p.await(`started.*redis-server pid=(\d+)`))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.wait(15 * time.Second)
	if code := p.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(p.said.String(), "redis-server ended by itself") {
		t.Errorf("it exited with %d: %s", code, p.said)
	}
}

// A server that is killed has its keys and its line on disk.
func TestKill_KeepsThePlace(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	args := []string{"--rooms=" + roomsFile(t, "  - {name: a, capacity: 9, rate: 1/h}\n"), "--data-dir=" + t.TempDir()}
	p, url := serve(t, args...)
	join(t, url+"/v1/rooms/a")
	var tickets []string
	for range 3 {
		ticket, _ := join(t, url+"/v1/rooms/a")
		tickets = append(tickets, ticket)
	}
	p.kill()
	p, url = serve(t, args...)
	for i := len(tickets) - 1; i >= 0; i-- {
		if status, v := call(t, http.MethodGet, url+"/v1/rooms/a/ticket", tickets[i]); v["state"] != "waiting" || v["position"] != float64(i+1) {
			t.Errorf("after the restart ticket %d stands at %d %v", i+1, status, v)
		}
	}
	p.end()
}
