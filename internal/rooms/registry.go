package rooms

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/anteroom/anteroom/internal/match"
	"github.com/anteroom/anteroom/queue"
)

// Registry holds the rooms in force. Reading is lock-free; Reload swaps them all.
type Registry struct {
	file   string     // "" = fixed rooms
	change sync.Mutex // one change at a time, so that the last one read wins; guards over
	over   map[string]Override
	set    atomic.Pointer[set]
}

type set struct {
	base    []Room // as the file has them
	all     []Room // with the overrides over them
	byName  map[string]Room
	matcher *match.Matcher
}

// Fixed is a registry of rooms that no file describes. It panics when their rules do not
// go together.
func Fixed(all ...Room) *Registry {
	g := &Registry{}
	if err := g.put(all); err != nil {
		panic(err)
	}
	return g
}

// Open reads the rooms of a file.
func Open(file string) (*Registry, error) {
	g := &Registry{file: file}
	if err := g.Reload(); err != nil {
		return nil, err
	}
	return g, nil
}

// ErrNoFile means that the rooms come from no file that could be read again.
var ErrNoFile = errors.New("rooms: there is no rooms file")

// Reload reads the file again. A bad file keeps the old rooms and says why; fixed rooms
// stay and say ErrNoFile.
func (g *Registry) Reload() error {
	if g.file == "" {
		return ErrNoFile
	}
	g.change.Lock()
	defer g.change.Unlock()
	data, err := os.ReadFile(g.file)
	if err != nil {
		return fmt.Errorf("rooms file: %w", err)
	}
	all, err := Parse(g.file, data)
	if err != nil {
		return err
	}
	loadThemes(filepath.Dir(g.file), all)
	return g.put(all)
}

// Refresh is Reload for whoever cannot take an error: it logs what came of it.
func (g *Registry) Refresh(log *slog.Logger) {
	switch err := g.Reload(); {
	case errors.Is(err, ErrNoFile):
		log.Info("there is no rooms file to read again; --rooms names one")
	case err != nil:
		log.Error("the rooms file was not taken; the old rooms stay in force", "error", err)
	default:
		log.Info("rooms file read", "file", g.file, "rooms", len(g.All()))
	}
	g.WarnThemes(log)
}

// WarnThemes says which themes do not count, and why.
func (g *Registry) WarnThemes(log *slog.Logger) {
	for _, r := range g.All() {
		if r.Theme.Problem != "" {
			log.Warn("a theme does not count; the built-in page is shown", "room", r.Name, "problem", r.Theme.Problem)
		}
	}
}

// put takes rooms into force with the overrides over them. Overrides change nothing that
// the matcher reads.
func (g *Registry) put(base []Room) error {
	matcher, err := Matcher(base)
	if err != nil {
		return fmt.Errorf("rooms file: %w", err)
	}
	_ = g.lay(base, matcher) // what does not go with the new file is said when it is set next
	return nil
}

func (g *Registry) lay(base []Room, matcher *match.Matcher) error {
	s := &set{base: base, all: make([]Room, len(base)), byName: make(map[string]Room, len(base)), matcher: matcher}
	var errs []error
	for i, r := range base {
		changed, err := g.over[r.Name].Apply(r)
		if err != nil {
			errs = append(errs, fmt.Errorf("room %s: %w", r.Name, err))
		}
		s.all[i], s.byName[r.Name] = changed, changed
	}
	g.set.Store(s)
	return errors.Join(errs...)
}

// Override puts overrides, by room, over the rooms of the file, in place of those before. A
// room whose override does not go with it stays as the file has it, and the error says so;
// the others take theirs. Rooms that the file does not have are passed over.
func (g *Registry) Override(over map[string]Override) error {
	g.change.Lock()
	defer g.change.Unlock()
	g.over = over
	s := g.set.Load()
	return g.lay(s.base, s.matcher)
}

// Base is a room as the file has it.
func (g *Registry) Base(name string) (Room, bool) {
	for _, r := range g.set.Load().base {
		if r.Name == name {
			return r, true
		}
	}
	return Room{}, false
}

// Find is the room that protects an address: rule and room are of one reading of the file.
func (g *Registry) Find(host, target string) (Room, match.Found, bool, error) {
	s := g.set.Load()
	found, ok, err := s.matcher.Find(host, target)
	if err != nil || !ok {
		return Room{}, found, false, err
	}
	return s.byName[found.Room], found, true, nil
}

// Matcher explains the rules.
func (g *Registry) Matcher() *match.Matcher { return g.set.Load().matcher }

// Get returns a room by its name.
func (g *Registry) Get(name string) (Room, bool) {
	r, ok := g.set.Load().byName[name]
	return r, ok
}

// All returns the rooms in the file's order. The caller must not change them.
func (g *Registry) All() []Room { return g.set.Load().all }

// Queue returns the rooms as the line knows them.
func (g *Registry) Queue() []queue.Room {
	all := g.All()
	out := make([]queue.Room, len(all))
	for i, r := range all {
		out[i] = r.Queue()
	}
	return out
}
