// Package settings keeps what operators change of rooms while they run: overrides over the
// rooms file, in Redis, with a version and a past.
//
// The rooms file is the start. A Redis that lost its memory has no overrides, and every
// room is as its file says.
package settings

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/rooms"
)

// KeptRevisions is how many revisions of a room are kept for looking back and for undo.
const KeptRevisions = 100

var (
	// ErrStore is wrapped by every error that Redis caused.
	ErrStore = errors.New("settings: store")
	// ErrConflict means that somebody else changed the room since it was read.
	ErrConflict = errors.New("settings: somebody else has changed this room in the meantime")
	// ErrNoPast means that there is nothing to undo.
	ErrNoPast = errors.New("settings: there is no earlier revision")
)

// Revision is one state of a room's settings. Version 0 is the rooms file alone.
type Revision struct {
	Version int64
	Over    rooms.Override
	By, Why string
	At      time.Time
}

// Store reads and writes revisions. It is safe for concurrent use.
type Store struct{ rdb redis.UniversalClient }

// New is a store on rdb, which the caller owns.
func New(rdb redis.UniversalClient) *Store { return &Store{rdb} }

func keyNow(room string) string  { return "anteroom:{" + room + "}:settings" }      // HASH version over by why at, no TTL
func keyPast(room string) string { return "anteroom:{" + room + "}:settings:past" } // LIST JSON, KeptRevisions, no TTL

//go:embed lua/put.lua
var putLua string

var putScript = redis.NewScript(putLua)

// Put makes over the room's settings if the version in force is still expect. It judges no
// values: check them against the room first. Errors wrap ErrConflict or ErrStore.
func (s *Store) Put(ctx context.Context, room string, expect int64, over rooms.Override, by, why string) (Revision, error) {
	text, err := json.Marshal(over)
	if err != nil {
		return Revision{}, fmt.Errorf("settings: %w", err)
	}
	reply, err := putScript.Run(ctx, s.rdb, []string{keyNow(room), keyPast(room)}, expect, text, by, why, KeptRevisions).Int64Slice()
	if err != nil {
		return Revision{}, fmt.Errorf("%w: put: %w", ErrStore, err)
	}
	if reply[0] == 0 {
		return Revision{}, fmt.Errorf("%w: it is at version %d, not %d", ErrConflict, reply[1], expect)
	}
	return Revision{reply[1], over, by, why, time.UnixMilli(reply[2])}, nil
}

// Get is what is in force for each of the rooms, in one round trip a node.
func (s *Store) Get(ctx context.Context, names ...string) (map[string]Revision, error) {
	pipe := s.rdb.Pipeline()
	replies := make([]*redis.SliceCmd, len(names))
	for i, name := range names {
		replies[i] = pipe.HMGet(ctx, keyNow(name), "version", "over", "by", "why", "at")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("%w: get: %w", ErrStore, err)
	}
	out := make(map[string]Revision, len(names))
	for i, name := range names {
		v := replies[i].Val()
		r, err := revision(text(v, 0), text(v, 1), text(v, 2), text(v, 3), text(v, 4))
		if err != nil {
			return nil, fmt.Errorf("%w: room %s: %w", ErrStore, name, err)
		}
		out[name] = r
	}
	return out, nil
}

func text(fields []any, i int) string {
	if i < len(fields) {
		s, _ := fields[i].(string)
		return s
	}
	return ""
}

func revision(version, over, by, why, at string) (r Revision, err error) {
	if version == "" {
		return Revision{}, nil
	}
	r.By, r.Why = by, why
	if r.Version, err = strconv.ParseInt(version, 10, 64); err != nil {
		return Revision{}, fmt.Errorf("version: %w", err)
	}
	if err = json.Unmarshal([]byte(over), &r.Over); err != nil {
		return Revision{}, fmt.Errorf("over: %w", err)
	}
	ms, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return Revision{}, fmt.Errorf("at: %w", err)
	}
	r.At = time.UnixMilli(ms)
	return r, nil
}

// Past are the latest n revisions of a room, newest first; the first is in force.
func (s *Store) Past(ctx context.Context, room string, n int) ([]Revision, error) {
	list, err := s.rdb.LRange(ctx, keyPast(room), 0, int64(n)-1).Result()
	if err != nil {
		return nil, fmt.Errorf("%w: past: %w", ErrStore, err)
	}
	out := make([]Revision, 0, len(list))
	for _, item := range list {
		var kept struct {
			Version           int64
			Over, By, Why, At string
		}
		if err := json.Unmarshal([]byte(item), &kept); err != nil {
			return nil, fmt.Errorf("%w: past: %w", ErrStore, err)
		}
		r, err := revision(strconv.FormatInt(kept.Version, 10), kept.Over, kept.By, kept.Why, kept.At)
		if err != nil {
			return nil, fmt.Errorf("%w: past: %w", ErrStore, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// Undo makes the revision before the one in force the newest, if the version in force is
// still expect. Errors wrap ErrNoPast, ErrConflict or ErrStore.
func (s *Store) Undo(ctx context.Context, room string, expect int64, by string) (Revision, error) {
	past, err := s.Past(ctx, room, 2)
	if err != nil {
		return Revision{}, err
	}
	if len(past) == 0 || expect == 0 {
		return Revision{}, ErrNoPast
	}
	before := Revision{} // the rooms file alone
	if len(past) > 1 {
		before = past[1]
	}
	return s.Put(ctx, room, expect, before.Over, by, fmt.Sprintf("undo of version %d", expect))
}
