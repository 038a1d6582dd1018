package settings_test

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/internal/settings"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func in(t *testing.T, s *settings.Store, room string) settings.Revision {
	t.Helper()
	all, err := s.Get(t.Context(), room)
	if err != nil {
		t.Fatal(err)
	}
	return all[room]
}

func TestPut_EachVersionIsWrittenOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s, room := settings.New(rdb), redistest.RoomName(t)
		var wrote atomic.Int64
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				_, err := s.Put(t.Context(), room, 0, rooms.Override{"capacity": strconv.Itoa(i + 1)}, "me", "")
				switch {
				case err == nil:
					wrote.Add(1)
				case !errors.Is(err, settings.ErrConflict):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if wrote.Load() != 1 {
			t.Fatalf("%d of 20 wrote version 1", wrote.Load())
		}
		if now := in(t, s, room); now.Version != 1 || now.By != "me" || time.Since(now.At).Abs() > time.Minute {
			t.Fatalf("%+v", now)
		}
	})
}

func TestUndo_GoesBackStepByStepAndIsItselfUndone(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s, room := settings.New(rdb), redistest.RoomName(t)
		if _, err := s.Undo(t.Context(), room, 0, "me"); !errors.Is(err, settings.ErrNoPast) {
			t.Fatalf("nothing to undo, and the error is %v", err)
		}
		first := rooms.Override{"capacity": "5", "message": "a \"quoted\" <b>ä</b>"}
		for i, over := range []rooms.Override{first, {"capacity": "9"}} {
			if _, err := s.Put(t.Context(), room, int64(i), over, "me", "why"); err != nil {
				t.Fatal(err)
			}
		}
		r, err := s.Undo(t.Context(), room, 2, "you")
		if err != nil || r.Version != 3 || !maps.Equal(r.Over, first) {
			t.Fatalf("%+v, %v", r, err)
		}
		if r, err = s.Undo(t.Context(), room, 3, "you"); err != nil || r.Over["capacity"] != "9" {
			t.Fatalf("undo of the undo: %+v, %v", r, err)
		}
		if _, err := s.Undo(t.Context(), room, 3, "late"); !errors.Is(err, settings.ErrConflict) {
			t.Fatalf("an undo of what is not in force: %v", err)
		}
		past, err := s.Past(t.Context(), room, 10)
		if err != nil || len(past) != 4 || past[0].Version != 4 || past[3].Over["message"] != first["message"] || past[1].By != "you" {
			t.Fatalf("%+v, %v", past, err)
		}
	})
}

func TestUndo_OfTheFirstIsTheFileAlone(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s, room := settings.New(rdb), redistest.RoomName(t)
		if _, err := s.Put(t.Context(), room, 0, rooms.Override{"capacity": "5"}, "me", ""); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Undo(t.Context(), room, 1, "me"); err != nil || len(r.Over) != 0 || r.Version != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
	})
}

func TestPast_IsBounded(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s, room := settings.New(rdb), redistest.RoomName(t)
		for i := range settings.KeptRevisions + 20 {
			if _, err := s.Put(t.Context(), room, int64(i), rooms.Override{"capacity": "5"}, "me", ""); err != nil {
				t.Fatal(err)
			}
		}
		past, err := s.Past(t.Context(), room, 10*settings.KeptRevisions)
		if err != nil || len(past) != settings.KeptRevisions || past[0].Version != settings.KeptRevisions+20 {
			t.Fatalf("%d revisions, %v", len(past), err)
		}
	})
}

func TestWatch_FollowsAndFallsBackToTheFile(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		name := redistest.RoomName(t)
		all, err := rooms.Parse("rooms.yaml", []byte("rooms: [{name: "+name+", capacity: 10, rate: 1/s}]"))
		if err != nil {
			t.Fatal(err)
		}
		registry, s := rooms.Fixed(all...), settings.New(rdb)
		var log bytes.Buffer
		w := settings.NewWatch(s, registry, slog.New(slog.NewTextHandler(&log, nil)))
		look := func(want int) {
			t.Helper()
			if err := w.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, _ := registry.Get(name); got.Capacity != want {
				t.Fatalf("capacity is %d, want %d", got.Capacity, want)
			}
		}
		look(10)
		if _, err := s.Put(t.Context(), name, 0, rooms.Override{"capacity": "20"}, "me", ""); err != nil {
			t.Fatal(err)
		}
		look(20)
		if _, err := s.Put(t.Context(), name, 1, rooms.Override{"capacity": "20", "max_session": "1s"}, "me", ""); err != nil {
			t.Fatal(err)
		}
		look(10) // it does not go with the file
		if !strings.Contains(log.String(), "max_session") {
			t.Errorf("the log does not say why: %s", &log)
		}
		if _, err := s.Put(t.Context(), name, 2, rooms.Override{"capacity": "30"}, "me", ""); err != nil {
			t.Fatal(err)
		}
		look(30)
		if err := rdb.Del(t.Context(), "anteroom:{"+name+"}:settings").Err(); err != nil {
			t.Fatal(err)
		}
		look(10)
		if !strings.Contains(log.String(), "forgot") {
			t.Errorf("the log does not say that the store forgot: %s", &log)
		}
	})
}
