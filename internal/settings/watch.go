package settings

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
)

const (
	watchEvery   = 500 * time.Millisecond
	watchTimeout = 400 * time.Millisecond
)

// Watch keeps a registry's overrides as Redis has them. While Redis is away the last ones
// stay in force.
type Watch struct {
	store    *Store
	registry *rooms.Registry
	log      *slog.Logger

	look sync.Mutex // one look at a time; guards seen and said
	seen map[string]int64
	said string
}

// NewWatch watches for a registry; Run does the work.
func NewWatch(store *Store, registry *rooms.Registry, log *slog.Logger) *Watch {
	return &Watch{store: store, registry: registry, log: log}
}

// Run looks twice a second until ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if err := w.Look(ctx); err != nil && ctx.Err() == nil {
			w.log.Debug("operators' settings cannot be read; the last ones stay", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Look takes over now what Redis has. Call it after a Put, so that this process obeys at once.
func (w *Watch) Look(ctx context.Context) error {
	w.look.Lock()
	defer w.look.Unlock()
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	var names []string
	for _, r := range w.registry.All() {
		names = append(names, r.Name)
	}
	now, err := w.store.Get(ctx, names...)
	if err != nil {
		return err
	}
	versions := make(map[string]int64, len(now))
	over := map[string]rooms.Override{}
	for name, r := range now {
		versions[name] = r.Version
		if len(r.Over) > 0 {
			over[name] = r.Over
		}
	}
	if maps.Equal(versions, w.seen) {
		return nil
	}
	w.tell(versions)
	w.seen = versions
	w.complain(w.registry.Override(over))
	return nil
}

func (w *Watch) tell(versions map[string]int64) {
	for name, version := range versions {
		switch version {
		case w.seen[name]:
		case 0:
			w.log.Warn("the store forgot this room's settings; it is as the rooms file says", "room", name)
		default:
			w.log.Info("operator's settings", "room", name, "version", version)
		}
	}
}

// complain says once what does not go with the rooms file.
func (w *Watch) complain(err error) {
	text := ""
	if err != nil {
		text = err.Error()
		if text != w.said {
			w.log.Error("settings that do not go with the rooms file; the room is as the file says", "error", err)
		}
	}
	w.said = text
}
