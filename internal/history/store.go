package history

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Span is how far back a history goes, and how far apart its points are.
type Span struct {
	Name   string        // in keys and addresses
	Length time.Duration // how far back
	Step   time.Duration // between two points
}

// The spans.
var (
	QuarterHour = Span{"15m", 15 * time.Minute, 5 * time.Second}
	ThreeHours  = Span{"3h", 3 * time.Hour, 30 * time.Second}
	Day         = Span{"24h", 24 * time.Hour, 5 * time.Minute}
)

// Spans are all of them, the shortest first.
func Spans() []Span { return []Span{QuarterHour, ThreeHours, Day} }

// ErrStore is wrapped by every error that Redis caused.
var ErrStore = errors.New("history: store")

// Store reads and writes points. It is safe for concurrent use.
type Store struct{ rdb redis.UniversalClient }

// NewStore is a store on rdb, which the caller owns.
func NewStore(rdb redis.UniversalClient) *Store { return &Store{rdb} }

// key: STREAM, one field p with JSON, at most Length/Step+1 entries; TTL twice the length.
func key(room string, s Span) string { return "anteroom:{" + room + "}:history:" + s.Name }

// Add writes a point into every span whose bucket of that time has none yet.
func (s *Store) Add(ctx context.Context, room string, p Point) error {
	text, err := p.encode()
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	pipe := s.rdb.Pipeline()
	var added []*redis.StringCmd
	for _, span := range Spans() {
		id := strconv.FormatInt(p.At.Truncate(span.Step).UnixMilli(), 10) + "-0"
		added = append(added, pipe.XAdd(ctx, &redis.XAddArgs{
			Stream: key(room, span), ID: id, MaxLen: int64(span.Length/span.Step) + 1, Values: []string{"p", text},
		}))
		pipe.Expire(ctx, key(room, span), 2*span.Length)
	}
	_, _ = pipe.Exec(ctx) // each answer is looked at below
	for _, cmd := range added {
		if err := cmd.Err(); err != nil && !taken(err) {
			return fmt.Errorf("%w: %w", ErrStore, err)
		}
	}
	return nil
}

// taken means that the bucket has its point, or that the clock went back.
func taken(err error) bool { return strings.Contains(err.Error(), "equal or smaller") }

// Load gives the points of a span, oldest first.
func (s *Store) Load(ctx context.Context, room string, span Span, now time.Time) ([]Point, error) {
	from := strconv.FormatInt(now.Add(-span.Length).UnixMilli(), 10)
	entries, err := s.rdb.XRange(ctx, key(room, span), from, "+").Result()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	out := make([]Point, 0, len(entries))
	for _, e := range entries {
		ms, err := strconv.ParseInt(strings.TrimSuffix(e.ID, "-0"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: entry %q: %w", ErrStore, e.ID, err)
		}
		text, _ := e.Values["p"].(string)
		p, err := decode(time.UnixMilli(ms), text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
