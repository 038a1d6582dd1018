package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// server is a child process that serves until its standard input is closed, also by the
// end of this process.
type server struct {
	name    string
	address string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
}

func launch(o order) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{name: o.Kind, cmd: exec.Command(self, "--serve")}
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
	if err := s.ask(o, &h); err != nil {
		s.close()
		return nil, err
	}
	s.address = h.Address
	return s, nil
}

// ask sends one line and reads one.
func (s *server) ask(question, answer any) error {
	if err := json.NewEncoder(s.in).Encode(question); err != nil {
		return fmt.Errorf("server %s: %w", s.name, err)
	}
	if err := s.out.Decode(answer); err != nil {
		return fmt.Errorf("server %s: %w", s.name, err)
	}
	return nil
}

// cpu is the processor time that the server has used.
func (s *server) cpu() (time.Duration, error) {
	var a spent
	err := s.ask("cpu", &a)
	return a.CPU, err
}

func (s *server) close() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}
