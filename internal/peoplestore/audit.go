package peoplestore

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/web/admin/people"
)

// Audit appends an entry; its id is Redis's. About the last 20,000 are kept.
func (s *Store) Audit(ctx context.Context, e people.Entry) error {
	text, err := json.Marshal(e.Bounded())
	if err != nil {
		return fmt.Errorf("peoplestore: %w", err)
	}
	err = s.rdb.XAdd(ctx, &redis.XAddArgs{Stream: keyAudit, MaxLen: mostEntries, Approx: true, Values: []any{"entry", text}}).Err()
	if err != nil {
		return fmt.Errorf("%w: audit: %w", ErrStore, err)
	}
	return nil
}

var validEntry = regexp.MustCompile(`^[0-9]{1,19}-[0-9]{1,19}$`)

// Past are up to n entries before the one of an id, "" for the newest, newest first. An id
// that is none is as "".
func (s *Store) Past(ctx context.Context, before string, n int64) ([]people.Entry, error) {
	end := "+"
	if validEntry.MatchString(before) {
		end = "(" + before
	}
	list, err := s.rdb.XRevRangeN(ctx, keyAudit, end, "-", n).Result()
	if err != nil {
		return nil, fmt.Errorf("%w: audit: %w", ErrStore, err)
	}
	out := make([]people.Entry, 0, len(list))
	for _, m := range list {
		var e people.Entry
		text, _ := m.Values["entry"].(string)
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return nil, fmt.Errorf("%w: an entry that cannot be read: %w", ErrStore, err)
		}
		e.ID = m.ID
		out = append(out, e)
	}
	return out, nil
}
