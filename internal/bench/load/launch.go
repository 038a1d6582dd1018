package load

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Profiles are the files that a server writes about itself at its end; "" = none.
type Profiles struct {
	CPU    string
	Allocs string
}

// start is the first line that a server is told. Each further line asks for the CPU time
// that it has used; the end of input ends it.
type start struct {
	Profiles Profiles
	Order    json.RawMessage
}

// hello is a server's first line of output.
type hello struct{ Address string }

// spent answers each further line.
type spent struct{ CPU time.Duration }

// Server is a child process that serves until its standard input is closed, also by the
// end of this process.
type Server struct {
	Name    string
	Address string // host:port
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
}

// Launch starts this program again with --serve, which is to call Serve, and tells it the
// order as JSON. The caller closes the server.
func Launch(name string, order any, p Profiles) (*Server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	s := &Server{Name: name, cmd: exec.Command(self, "--serve")}
	s.cmd.Stderr = os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = json.NewDecoder(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	var h hello
	if err := s.ask(start{p, text}, &h); err != nil {
		s.Close()
		return nil, err
	}
	s.Address = h.Address
	return s, nil
}

// ask sends one line and reads one.
func (s *Server) ask(question, answer any) error {
	if err := json.NewEncoder(s.in).Encode(question); err != nil {
		return fmt.Errorf("server %s: %w", s.Name, err)
	}
	if err := s.out.Decode(answer); err != nil {
		return fmt.Errorf("server %s: %w", s.Name, err)
	}
	return nil
}

// cpu is the processor time that the server has used.
func (s *Server) cpu() (time.Duration, error) {
	var a spent
	err := s.ask("cpu", &a)
	return a.CPU, err
}

// Close ends the server and waits for it.
func (s *Server) Close() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}
