package redistest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/anteroom/anteroom/internal/embedded"
)

// startTimeout is how long a server may take until it answers.
const startTimeout = 10 * time.Second

// child is one run of redis-server.
type child struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process was waited for
}

// spawn starts redis-server in dir and returns when it answers and its data is loaded.
func spawn(dir, socket string, args []string) (*child, error) {
	output, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start redis-server: %w", err)
	}
	defer func() { _ = output.Close() }()
	_ = os.Remove(socket) // a killed server leaves it
	c := &child{cmd: exec.Command("redis-server", args...), exited: make(chan struct{})}
	c.cmd.SysProcAttr = childAttr()
	c.cmd.Stdout, c.cmd.Stderr = output, output
	started := make(chan error, 1)
	go c.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start redis-server: %w", err)
	}
	if err := c.await(socket); err != nil {
		c.kill()
		said, _ := os.ReadFile(output.Name())
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return c, nil
}

// run owns the process from its start to its end. It keeps to one thread, because Linux
// sends the parent-death signal when the thread that started the child ends.
func (c *child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.exited)
	err := c.cmd.Start()
	started <- err
	if err == nil {
		_ = c.cmd.Wait()
	}
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.exited
}

func (c *child) await(socket string) error {
	deadline := time.After(startTimeout)
	tick := time.NewTicker(5 * time.Millisecond) // nothing tells of a socket that is not there yet
	defer tick.Stop()
	for {
		select {
		case <-deadline:
			return fmt.Errorf("redis-server on %s did not answer within %v", socket, startTimeout)
		case <-c.exited:
			return fmt.Errorf("redis-server ended at once (%v)", c.cmd.ProcessState)
		case <-tick.C:
			if embedded.Answers(socket) {
				return nil
			}
		}
	}
}
