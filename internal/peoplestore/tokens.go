package peoplestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/web/admin/people"
)

// AddToken keeps a new API token. Errors wrap ErrFull or ErrStore.
func (s *Store) AddToken(ctx context.Context, t people.Token) error {
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("peoplestore: %w", err)
	}
	n, err := tokenScript.Run(ctx, s.rdb, []string{keyTokens}, t.ID, text, mostTokens).Int64()
	if err != nil {
		return fmt.Errorf("%w: token: %w", ErrStore, err)
	}
	if n == 0 {
		return ErrFull
	}
	return nil
}

// Token is the token of an id. Errors wrap ErrNone or ErrStore.
func (s *Store) Token(ctx context.Context, id string) (people.Token, error) {
	pipe := s.rdb.Pipeline()
	text, used := pipe.HGet(ctx, keyTokens, id), pipe.HGet(ctx, keyUsed, id)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return people.Token{}, fmt.Errorf("%w: token: %w", ErrStore, err)
	}
	if errors.Is(text.Err(), redis.Nil) {
		return people.Token{}, fmt.Errorf("%w: token", ErrNone)
	}
	return parseToken(text.Val(), used.Val())
}

// Tokens are all, newest first.
func (s *Store) Tokens(ctx context.Context) ([]people.Token, error) {
	pipe := s.rdb.Pipeline()
	texts, used := pipe.HGetAll(ctx, keyTokens), pipe.HGetAll(ctx, keyUsed)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("%w: tokens: %w", ErrStore, err)
	}
	all := make([]people.Token, 0, len(texts.Val()))
	for id, text := range texts.Val() {
		t, err := parseToken(text, used.Val()[id])
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b people.Token) int { return b.Created.Compare(a.Created) })
	return all, nil
}

func parseToken(text, used string) (t people.Token, err error) {
	if err = json.Unmarshal([]byte(text), &t); err == nil && used != "" {
		var ms int64
		ms, err = strconv.ParseInt(used, 10, 64)
		t.Used = time.UnixMilli(ms)
	}
	if err != nil {
		return t, fmt.Errorf("%w: a token that cannot be read: %w", ErrStore, err)
	}
	return t, nil
}

// UsedToken writes down when a token was used.
func (s *Store) UsedToken(ctx context.Context, id string, at time.Time) error {
	if err := s.rdb.HSet(ctx, keyUsed, id, at.UnixMilli()).Err(); err != nil {
		return fmt.Errorf("%w: used: %w", ErrStore, err)
	}
	return nil
}

// RemoveToken ends a token at once. Errors wrap ErrNone or ErrStore.
func (s *Store) RemoveToken(ctx context.Context, id string) error {
	pipe := s.rdb.TxPipeline()
	n := pipe.HDel(ctx, keyTokens, id)
	pipe.HDel(ctx, keyUsed, id)
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("%w: remove token: %w", ErrStore, err)
	}
	if n.Val() == 0 {
		return fmt.Errorf("%w: token", ErrNone)
	}
	return nil
}
