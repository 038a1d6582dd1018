package main

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/anteroom/anteroom/internal/bench/load"
	"github.com/anteroom/anteroom/queue"
)

// bench is a Redis with a filled room and the servers before it.
type bench struct {
	cfg      settings
	redis    *load.Redis
	request  load.Request
	subjects []load.Subject // plain, alone, grouped, memory
}

func newBench(ctx context.Context, cfg settings) (*bench, error) {
	r, err := load.StartRedis(ctx)
	if err != nil {
		return nil, err
	}
	b := &bench{cfg: cfg, redis: r}
	if err := b.start(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() {
	for _, s := range b.subjects {
		s.Close()
	}
	b.redis.Close()
}

func (b *bench) start(ctx context.Context) error {
	tokens, err := fill(ctx, queue.New(b.redis.Client), b.cfg.Waiting)
	if err != nil {
		return err
	}
	b.request = polls(tokens)
	if _, err := b.launch(order{Kind: "memory", Redis: b.redis.URL}, load.Profiles{CPU: b.cfg.Profile}); err != nil {
		return err
	}
	grouped, err := b.launch(order{Kind: "grouped", Redis: b.redis.URL}, load.Profiles{})
	if err != nil {
		return err
	}
	if _, err := b.launch(order{Kind: "alone", Redis: b.redis.URL}, load.Profiles{}); err != nil {
		return err
	}
	answer, err := load.Fetch(ctx, grouped.Address, b.request, http.StatusOK)
	if err != nil {
		return err
	}
	_, err = b.launch(order{Kind: "plain", Answer: answer}, load.Profiles{})
	return err
}

// launch puts each new server before those that it is held against.
func (b *bench) launch(o order, p load.Profiles) (*load.Server, error) {
	s, err := load.Launch(o.Kind, o, p)
	if err != nil {
		return nil, err
	}
	subject := load.Subject{Server: s, Status: http.StatusOK, Requests: func(int) load.Request { return b.request }}
	if o.Kind == "memory" { // a crowd that stands there, not one that has just come
		subject.Warm = b.cfg.Waiting
	}
	b.subjects = append([]load.Subject{subject}, b.subjects...)
	return s, nil
}

// polls ask for one ticket after the other, as a crowd does in which each waits for its next
// poll, with the headers that a browser's fetch would send, in short.
func polls(tokens []string) load.Request {
	var next atomic.Uint64
	return func(b []byte, host string) []byte {
		b = append(b, "GET /v1/rooms/"+roomName+"/ticket HTTP/1.1\r\nHost: "...)
		b = append(b, host...)
		b = append(b, "\r\nAccept: application/json\r\nAuthorization: Bearer "...)
		b = append(b, tokens[next.Add(1)%uint64(len(tokens))]...)
		return append(b, "\r\n\r\n"...)
	}
}
