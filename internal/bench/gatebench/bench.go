package main

import (
	"context"
	"net/http"

	"github.com/anteroom/anteroom/internal/bench/load"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web/gate"
)

// bench is a Redis with people inside a room and the servers before it.
type bench struct {
	cfg      settings
	redis    *load.Redis
	subjects []load.Subject // by row
}

func newBench(ctx context.Context, cfg settings) (*bench, error) {
	r, err := load.StartRedis(ctx)
	if err != nil {
		return nil, err
	}
	b := &bench{cfg: cfg, redis: r, subjects: make([]load.Subject, rowFirst+1)}
	if err := b.start(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() {
	for _, s := range b.subjects {
		if s.Server != nil {
			s.Close()
		}
	}
	b.redis.Close()
}

func (b *bench) start(ctx context.Context) error {
	all, err := enter(ctx, queue.New(b.redis.Client), b.cfg.Passes+b.cfg.First*b.cfg.Load.Rounds)
	if err != nil {
		return err
	}
	known, unknown := all[:b.cfg.Passes], all[b.cfg.Passes:]
	traefik, nginx := again(gate.Traefik, known), again(gate.Nginx, known)
	front := order{Redis: b.redis.URL}
	if err := b.launch(rowTraefik, "traefik", front, traefik, b.cfg.Profiles); err != nil {
		return err
	}
	if err := b.launch(rowNginx, "nginx", front, nginx, load.Profiles{}); err != nil {
		return err
	}
	if err := b.launch(rowFirst, "first sight", front, nil, load.Profiles{}); err != nil {
		return err
	}
	b.subjects[rowFirst].Requests = func(round int) load.Request {
		return once(gate.Traefik, unknown[round*b.cfg.First:][:b.cfg.First])
	}
	if err := b.launchPlain(ctx, rowPlain, "plain", rowTraefik, traefik); err != nil {
		return err
	}
	return b.launchPlain(ctx, rowPlain204, "plain 204", rowNginx, nginx)
}

func (b *bench) launch(row int, name string, o order, request load.Request, p load.Profiles) error {
	s, err := load.Launch(name, o, p)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if plainOf(row) == rowPlain204 {
		status = http.StatusNoContent
	}
	b.subjects[row] = load.Subject{Server: s, Status: status, Requests: func(int) load.Request { return request }}
	return nil
}

// launchPlain starts the yardstick of a row: it is asked the same and answers the same.
func (b *bench) launchPlain(ctx context.Context, row int, name string, of int, request load.Request) error {
	answer, err := load.Fetch(ctx, b.subjects[of].Address, request, b.subjects[of].Status)
	if err != nil {
		return err
	}
	return b.launch(row, name, order{Answer: &answer}, request, load.Profiles{})
}
