package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Request appends one whole HTTP/1.1 request for a host to b. Connections call it at once.
// Nil means that there are no more.
type Request func(b []byte, host string) []byte

// Client is a set of connections that ask without a pause, one request at a time each.
// It writes and reads HTTP by hand, because an http.Client costs more than the server.
type Client struct {
	connections []*connection
}

// Dial opens n connections. Each answer must have the status. The caller closes the client.
func Dial(address string, n int, request Request, status int) (*Client, error) {
	l := &Client{}
	for range n {
		c, err := net.Dial("tcp", address)
		if err != nil {
			l.Close()
			return nil, err
		}
		l.connections = append(l.connections, &connection{conn: c, address: address, request: request, status: status})
	}
	return l, nil
}

// Close closes the connections.
func (l *Client) Close() {
	for _, c := range l.connections {
		_ = c.conn.Close()
	}
}

// Run asks for a while, or until there are no more requests, and returns what was counted;
// any answer of another status is an error.
func (l *Client) Run(ctx context.Context, d time.Duration) (Round, error) {
	began := time.Now()
	until := began.Add(d)
	var wg sync.WaitGroup
	for _, c := range l.connections {
		wg.Go(func() { c.ask(ctx, until) })
	}
	wg.Wait()
	r := Round{Took: time.Since(began)}
	var errs []error
	for _, c := range l.connections {
		r.Latencies = append(r.Latencies, c.latencies...)
		errs = append(errs, c.err)
	}
	return r, errors.Join(append(errs, ctx.Err())...)
}

type connection struct {
	conn      net.Conn
	address   string
	request   Request
	status    int
	buffer    [4096]byte
	latencies []time.Duration
	err       error
}

func (c *connection) ask(ctx context.Context, until time.Time) {
	c.latencies = c.latencies[:0]
	_ = c.conn.SetDeadline(until.Add(5 * time.Second))
	request := make([]byte, 0, 2048)
	for now := time.Now(); now.Before(until) && ctx.Err() == nil; {
		request = c.request(request[:0], c.address)
		if request == nil {
			return
		}
		if _, c.err = c.conn.Write(request); c.err != nil {
			return
		}
		if c.err = c.read(); c.err != nil {
			return
		}
		answered := time.Now()
		c.latencies = append(c.latencies, answered.Sub(now))
		now = answered
	}
}

func (c *connection) read() error {
	n := 0
	for {
		more, err := c.conn.Read(c.buffer[n:])
		if err != nil {
			return err
		}
		n += more
		if done, err := whole(c.buffer[:n], c.status); done || err != nil {
			return err
		}
		if n == len(c.buffer) {
			return errors.New("an answer over 4 KiB")
		}
	}
}

var (
	version    = []byte("HTTP/1.1 ")
	endOfHead  = []byte("\r\n\r\n")
	lengthName = []byte("\r\nContent-Length: ")
)

// whole reports whether b is one whole answer of a status, with a Content-Length unless
// the status has no body.
func whole(b []byte, status int) (bool, error) {
	head, body, ok := bytes.Cut(b, endOfHead)
	if !ok {
		return false, nil
	}
	rest, ok := bytes.CutPrefix(head, version)
	if !ok || len(rest) < 4 || number(rest[:3]) != status {
		return false, fmt.Errorf("answered %q", b)
	}
	length := 0
	if status != http.StatusNoContent {
		_, rest, ok := bytes.Cut(head, lengthName)
		if !ok {
			return false, fmt.Errorf("no Content-Length in %q", head)
		}
		digits, _, _ := bytes.Cut(rest, endOfHead[:2])
		length = number(digits)
	}
	if length < 0 || len(body) > length {
		return false, fmt.Errorf("the body has %d bytes, which is not what the head says: %q", len(body), head)
	}
	return len(body) == length, nil
}

// number is what digits say, -1 if they are none.
func number(digits []byte) int {
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return -1
	}
	return n
}

// Fetch gets the answer to one request for Plain to repeat. Date and Content-Length are
// left out: net/http adds them to every answer.
func Fetch(ctx context.Context, address string, request Request, status int) (Answer, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Write(request(nil, address)); err != nil {
		return Answer{}, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != status {
		err = fmt.Errorf("answered %s %s", resp.Status, body)
	}
	resp.Header.Del("Date")
	resp.Header.Del("Content-Length")
	return Answer{resp.StatusCode, resp.Header, body}, err
}
