package load

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Settings are how long and how hard servers are loaded.
type Settings struct {
	Connections int
	Seconds     float64 // measured time a server and round
	Rounds      int
}

// Check refuses settings by which nothing would be done.
func (c Settings) Check() error {
	if c.Connections < 1 || c.Seconds <= 0 || c.Rounds < 1 {
		return errors.New("connections, seconds and rounds are above 0")
	}
	return nil
}

// Subject is a server that is compared.
type Subject struct {
	*Server
	// Requests makes what it is asked in a round, counted from 0.
	Requests func(round int) Request
	Status   int // of each answer
	// Warm is how many requests go before the measured ones in each round, for a server that
	// answers what it has seen otherwise than what is new.
	Warm int
}

// Compare loads the subjects in turn and returns a row each.
func Compare(ctx context.Context, cfg Settings, redis *Redis, subjects []Subject) ([]Row, error) {
	rows := make([]Row, len(subjects))
	for i, s := range subjects {
		rows[i].Name = s.Name
	}
	for round := range cfg.Rounds {
		for i := range rows {
			// The order turns, so that no server always follows the same one.
			n := (i + round) % len(rows)
			r, err := subjects[n].measure(ctx, cfg, redis, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rows[n].Name, err)
			}
			rows[n].Rounds = append(rows[n].Rounds, r)
		}
	}
	return rows, nil
}

// warm is how long a server is loaded before it is measured: its connections are made,
// its scripts loaded, its caches filled again.
const warm = 300 * time.Millisecond

// measure loads one server for one round.
func (s Subject) measure(ctx context.Context, cfg Settings, redis *Redis, round int) (Round, error) {
	l, err := Dial(s.Address, cfg.Connections, s.Requests(round), s.Status)
	if err != nil {
		return Round{}, err
	}
	defer l.Close()
	for done := 0; ; {
		r, err := l.Run(ctx, warm)
		if err != nil {
			return Round{}, err
		}
		if done += len(r.Latencies); done >= s.Warm || len(r.Latencies) == 0 {
			break
		}
	}
	before, err := s.usage(ctx, redis)
	if err != nil {
		return Round{}, err
	}
	r, err := l.Run(ctx, time.Duration(cfg.Seconds*float64(time.Second)))
	if err != nil {
		return Round{}, err
	}
	if len(r.Latencies) == 0 {
		return Round{}, errors.New("there was no request left to measure")
	}
	after, err := s.usage(ctx, redis)
	r.Server, r.Redis = after.server-before.server, after.redis-before.redis
	return r, err
}

// used is processor time since the start of two processes.
type used struct{ server, redis time.Duration }

func (s Subject) usage(ctx context.Context, redis *Redis) (used, error) {
	server, err := s.cpu()
	if err != nil {
		return used{}, err
	}
	spent, err := redis.cpu(ctx)
	return used{server, spent}, err
}
