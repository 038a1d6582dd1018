package peoplestore

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Sessions keeps the sessions of package scs (scs.CtxStore). Tokens are to be hashed before
// they come here (scs.SessionManager.HashTokenInStore), so that whoever reads Redis cannot
// take a session over. The store that scs offers is for another client.
type Sessions struct{ rdb redis.UniversalClient }

// NewSessions is a store on rdb, which the caller owns.
func NewSessions(rdb redis.UniversalClient) Sessions { return Sessions{rdb} }

//go:embed lua/commit.lua
var commitLua string

var commitScript = redis.NewScript(commitLua)

// ended is how long an ended session is remembered as such: longer than any request takes.
const ended = 2 * time.Minute

// callTimeout bounds calls without a context, which scs makes for no store that takes one.
const callTimeout = time.Second

// FindCtx is scs.CtxStore's.
func (s Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	b, err := s.rdb.Get(ctx, keySession(token)).Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("%w: find session: %w", ErrStore, err)
	}
	return b, len(b) > 0, nil
}

// CommitCtx is scs.CtxStore's. It does not bring an ended session back.
func (s Sessions) CommitCtx(ctx context.Context, token string, b []byte, expiry time.Time) error {
	left := time.Until(expiry)
	if left < time.Millisecond {
		return s.DeleteCtx(ctx, token)
	}
	if err := commitScript.Run(ctx, s.rdb, []string{keySession(token)}, b, left.Milliseconds()).Err(); err != nil {
		return fmt.Errorf("%w: commit session: %w", ErrStore, err)
	}
	return nil
}

// DeleteCtx is scs.CtxStore's.
func (s Sessions) DeleteCtx(ctx context.Context, token string) error {
	if err := s.rdb.Set(ctx, keySession(token), "", ended).Err(); err != nil {
		return fmt.Errorf("%w: delete session: %w", ErrStore, err)
	}
	return nil
}

// Find is scs.Store's.
func (s Sessions) Find(token string) ([]byte, bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	return s.FindCtx(ctx, token)
}

// Commit is scs.Store's.
func (s Sessions) Commit(token string, b []byte, expiry time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	return s.CommitCtx(ctx, token, b, expiry)
}

// Delete is scs.Store's.
func (s Sessions) Delete(token string) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	return s.DeleteCtx(ctx, token)
}
