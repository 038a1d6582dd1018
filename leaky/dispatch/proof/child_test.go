package proof_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/bucket/membucket/remote"
	"github.com/anteroom/anteroom/leaky/deliver"
	"github.com/anteroom/anteroom/leaky/dispatch"
	"github.com/anteroom/anteroom/leaky/dispatch/redisledger"
)

// childEnv tells a test binary to be a dispatcher; its value is a task in JSON.
const childEnv = "ANTEROOM_PROOF_DISPATCHER"

const secret = deliver.Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		if err := child(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	redistest.Main(m)
}

// task is what a dispatcher is told.
type task struct {
	Queue, URL, Redis, Bucket string // Redis and Bucket are sockets
	Rate                      float64
	Concurrency               int
	Timeout, LeaseMargin      time.Duration
}

// child is a dispatcher until SIGTERM.
func child(text string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	b, err := remote.Dial(t.Bucket)
	if err != nil {
		return err
	}
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: t.Redis, ContextTimeoutEnabled: true})
	ledger, errLedger := redisledger.New(rdb, t.Queue, redisledger.Options{Rate: t.Rate})
	d, errDeliver := deliver.New(deliver.Config{Secrets: []deliver.Secret{secret}, AllowPrivate: true, Concurrency: t.Concurrency, Timeout: t.Timeout})
	if err := errors.Join(errLedger, errDeliver); err != nil {
		return err
	}
	one, err := dispatch.New(dispatch.Config{
		Queue: t.Queue, URL: t.URL, Rate: t.Rate, Timeout: t.Timeout, LeaseMargin: t.LeaseMargin,
		Retry:   leaky.Policy{MaxAttempts: 5, Min: time.Second, Max: 10 * time.Second},
		Breaker: leaky.BreakerConfig{Concurrency: t.Concurrency}, Bucket: b, Ledger: ledger, Deliver: d,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	err = one.Run(ctx)
	d.Close()
	return errors.Join(err, b.Close(), rdb.Close())
}

// process is a dispatcher that runs.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
}

// spawn starts a dispatcher, which ends with the test at the latest.
func spawn(t testing.TB, does task) *process {
	t.Helper()
	text, err := json.Marshal(does)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t, exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.kill()
		}
	})
	return p
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Error(err)
	}
}

// kill ends it as a crash would.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	_ = p.cmd.Wait() // it says that it was killed
}

// end asks it to stop, and holds it to stopping well.
func (p *process) end() {
	p.signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("a dispatcher that was asked to stop: %v", err)
	}
}
