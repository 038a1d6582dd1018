package embedded

import (
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// startMini runs miniredis and moves the clock of its TTLs, which stands still by itself.
// Its TIME is the real one.
func startMini() (*Redis, error) {
	mini := miniredis.NewMiniRedis()
	if err := mini.Start(); err != nil {
		return nil, fmt.Errorf("embedded: miniredis: %w", err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		moveClock(stop, mini.FastForward)
	}()
	return &Redis{
		URL: "redis://" + mini.Addr(), Kind: "miniredis", done: make(chan error, 1),
		Note: "no redis-server on PATH, so the line is kept in memory by miniredis: good for about a thousand waiting, and gone after a restart",
		stop: func() {
			close(stop)
			<-stopped
			mini.Close()
		},
	}, nil
}

// moveClock calls forward about once a second with the time that has passed, which is
// more than a second after the machine slept.
func moveClock(stop <-chan struct{}, forward func(time.Duration)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Now().Round(0) // wall time: the monotonic clock stands still in sleep
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			now := time.Now().Round(0)
			if passed := now.Sub(last); passed > 0 {
				forward(passed)
			}
			last = now
		}
	}
}
