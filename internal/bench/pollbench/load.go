package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// load is a set of connections that poll without a pause, one request at a time each.
// It writes and reads HTTP by hand, because an http.Client costs more than the server.
type load struct {
	connections []*connection
}

func dial(address string, n int, tokens []string) (*load, error) {
	l := &load{}
	for range n {
		c, err := net.Dial("tcp", address)
		if err != nil {
			l.close()
			return nil, err
		}
		l.connections = append(l.connections, &connection{conn: c, address: address, tokens: tokens})
	}
	return l, nil
}

func (l *load) close() {
	for _, c := range l.connections {
		_ = c.conn.Close()
	}
}

// run polls for a while and returns what was counted; any answer but 200 is an error.
func (l *load) run(ctx context.Context, d time.Duration) (round, error) {
	began := time.Now()
	until := began.Add(d)
	var wg sync.WaitGroup
	for _, c := range l.connections {
		wg.Go(func() { c.poll(ctx, until) })
	}
	wg.Wait()
	r := round{took: time.Since(began)}
	var errs []error
	for _, c := range l.connections {
		r.latencies = append(r.latencies, c.latencies...)
		errs = append(errs, c.err)
	}
	return r, errors.Join(append(errs, ctx.Err())...)
}

type connection struct {
	conn      net.Conn
	address   string
	tokens    []string
	buffer    [4096]byte
	latencies []time.Duration
	err       error
}

func (c *connection) poll(ctx context.Context, until time.Time) {
	c.latencies = c.latencies[:0]
	_ = c.conn.SetDeadline(until.Add(5 * time.Second))
	request := make([]byte, 0, 1024)
	for now := time.Now(); now.Before(until) && ctx.Err() == nil; {
		request = appendRequest(request[:0], c.address, c.tokens[rand.IntN(len(c.tokens))]) //nolint:gosec // no secret
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
		if done, err := whole(c.buffer[:n]); done || err != nil {
			return err
		}
		if n == len(c.buffer) {
			return errors.New("an answer over 4 KiB")
		}
	}
}

// appendRequest has the headers that a browser's fetch would send, in short.
func appendRequest(b []byte, host, token string) []byte {
	b = append(b, "GET /v1/rooms/"+roomName+"/ticket HTTP/1.1\r\nHost: "...)
	b = append(b, host...)
	b = append(b, "\r\nAccept: application/json\r\nAuthorization: Bearer "...)
	b = append(b, token...)
	return append(b, "\r\n\r\n"...)
}

var (
	statusOK   = []byte("HTTP/1.1 200 ")
	endOfHead  = []byte("\r\n\r\n")
	lengthName = []byte("\r\nContent-Length: ")
)

// whole reports whether b is one whole answer with a Content-Length.
func whole(b []byte) (bool, error) {
	head, body, ok := bytes.Cut(b, endOfHead)
	if !ok {
		return false, nil
	}
	if !bytes.HasPrefix(head, statusOK) {
		return false, fmt.Errorf("answered %q", b)
	}
	_, rest, ok := bytes.Cut(head, lengthName)
	if !ok {
		return false, fmt.Errorf("no Content-Length in %q", head)
	}
	digits, _, _ := bytes.Cut(rest, endOfHead[:2])
	length, err := strconv.Atoi(string(digits))
	if err != nil || len(body) > length {
		return false, fmt.Errorf("the body has %d bytes, Content-Length is %q", len(body), digits)
	}
	return len(body) == length, nil
}

// fetch gets one answer with an ordinary client. Date and Content-Length are left out:
// net/http adds them to every answer.
func fetch(ctx context.Context, address, token string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/v1/rooms/"+roomName+"/ticket", nil)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("answered %s %s", resp.Status, body)
	}
	resp.Header.Del("Date")
	resp.Header.Del("Content-Length")
	return answer{resp.Header, body}, err
}
