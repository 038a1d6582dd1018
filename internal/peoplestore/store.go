package peoplestore

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/web/admin/people"
)

// Errors of a Store.
var (
	// ErrStore is wrapped by every error that Redis caused.
	ErrStore = errors.New("peoplestore: store")
	// ErrNone means that there is no such account or token.
	ErrNone = errors.New("peoplestore: there is none")
	// ErrConflict means that somebody else changed it since it was read.
	ErrConflict = errors.New("peoplestore: somebody else has changed this in the meantime")
	// ErrTaken means that another account has this name.
	ErrTaken = errors.New("peoplestore: another account has this name")
	// ErrLast means that nobody would be left who decides about people.
	ErrLast = errors.New("peoplestore: this is the last administrator who can sign in")
	// ErrSetup means a set-up link that was used, is too old, or comes when there are accounts.
	ErrSetup = errors.New("peoplestore: this set-up link is used up")
	// ErrFull means mostAccounts accounts or mostTokens tokens.
	ErrFull = errors.New("peoplestore: there are too many")
)

const (
	// SetupLife is how long a set-up link is good.
	SetupLife    = time.Hour
	mostAccounts = 1000
	mostTokens   = 1000
	mostEntries  = 20_000 // of the audit log
)

// Store is safe for concurrent use. Deadlines come from the contexts of the calls.
type Store struct{ rdb redis.UniversalClient }

// New is a store on rdb, which the caller owns.
func New(rdb redis.UniversalClient) *Store { return &Store{rdb} }

//go:embed lua/put.lua
var putLua string

//go:embed lua/remove.lua
var removeLua string

//go:embed lua/token.lua
var tokenLua string

var (
	putScript    = redis.NewScript(putLua)
	removeScript = redis.NewScript(removeLua)
	tokenScript  = redis.NewScript(tokenLua)
)

// refusals are what the scripts return instead of a version.
var refusals = map[int64]error{-1: ErrConflict, -2: ErrTaken, -3: ErrLast, -4: ErrSetup, -5: ErrFull}

// Put writes an account against the version that was read, 0 for a new one, and returns it
// with its new version. Errors wrap ErrConflict, ErrTaken, ErrLast, ErrFull or ErrStore.
func (s *Store) Put(ctx context.Context, a people.Account) (people.Account, error) {
	return s.put(ctx, a, "")
}

// First writes the first account and uses a set-up link's code up, in one step. Errors wrap
// ErrSetup or ErrStore.
func (s *Store) First(ctx context.Context, a people.Account, code string) (people.Account, error) {
	return s.put(ctx, a, people.Hash(code))
}

func (s *Store) put(ctx context.Context, a people.Account, setup string) (people.Account, error) {
	text, err := json.Marshal(a) //nolint:gosec // the store of hashes: it is what is kept
	if err != nil {
		return a, fmt.Errorf("peoplestore: %w", err)
	}
	keys := []string{keyAccounts, keyVersions, keyHandles, keyAdmins, keySetup(setup)}
	n, err := putScript.Run(ctx, s.rdb, keys, a.ID, a.Version, a.Handle(), text, a.Governs(), setup != "", mostAccounts).Int64()
	if err != nil {
		return a, fmt.Errorf("%w: put: %w", ErrStore, err)
	}
	if n < 0 {
		return a, refusals[n]
	}
	a.Version = n
	return a, nil
}

// Remove removes an account, as Put would write it.
func (s *Store) Remove(ctx context.Context, a people.Account) error {
	n, err := removeScript.Run(ctx, s.rdb, []string{keyAccounts, keyVersions, keyHandles, keyAdmins}, a.ID, a.Version, a.Handle()).Int64()
	if err != nil {
		return fmt.Errorf("%w: remove: %w", ErrStore, err)
	}
	return refusals[n]
}

// Account is the account of an id. Errors wrap ErrNone or ErrStore.
func (s *Store) Account(ctx context.Context, id string) (people.Account, error) {
	pipe := s.rdb.TxPipeline() // both as of one moment
	text, version := pipe.HGet(ctx, keyAccounts, id), pipe.HGet(ctx, keyVersions, id)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return people.Account{}, fmt.Errorf("%w: account: %w", ErrStore, err)
	}
	if errors.Is(text.Err(), redis.Nil) {
		return people.Account{}, fmt.Errorf("%w: account", ErrNone)
	}
	return parseAccount(text.Val(), version.Val())
}

// ByHandle is the account of people.Account.Handle. Errors wrap ErrNone or ErrStore.
func (s *Store) ByHandle(ctx context.Context, handle string) (people.Account, error) {
	id, err := s.rdb.HGet(ctx, keyHandles, handle).Result()
	if errors.Is(err, redis.Nil) {
		// Ask as often as for an account that is there: nobody learns from the time which are.
		id, err = "", nil
	}
	if err != nil {
		return people.Account{}, fmt.Errorf("%w: handle: %w", ErrStore, err)
	}
	return s.Account(ctx, id)
}

// Accounts are all, by name.
func (s *Store) Accounts(ctx context.Context) ([]people.Account, error) {
	pipe := s.rdb.TxPipeline()
	texts, versions := pipe.HGetAll(ctx, keyAccounts), pipe.HGetAll(ctx, keyVersions)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("%w: accounts: %w", ErrStore, err)
	}
	all := make([]people.Account, 0, len(texts.Val()))
	for id, text := range texts.Val() {
		a, err := parseAccount(text, versions.Val()[id])
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b people.Account) int { return strings.Compare(a.Login+"\x00"+a.ID, b.Login+"\x00"+b.ID) })
	return all, nil
}

func parseAccount(text, version string) (a people.Account, err error) {
	if err = json.Unmarshal([]byte(text), &a); err == nil {
		a.Version, err = strconv.ParseInt(version, 10, 64)
	}
	if err != nil {
		return a, fmt.Errorf("%w: an account that cannot be read: %w", ErrStore, err)
	}
	return a, nil
}

// Offer makes the code of a set-up link, if there is no account yet; else it is "".
func (s *Store) Offer(ctx context.Context) (code string, err error) {
	n, err := s.rdb.HLen(ctx, keyAccounts).Result()
	if err == nil && n == 0 {
		code = people.NewCode()
		err = s.rdb.Set(ctx, keySetup(people.Hash(code)), "1", SetupLife).Err()
	}
	if err != nil {
		return "", fmt.Errorf("%w: offer: %w", ErrStore, err)
	}
	return code, nil
}

// Offered tells whether a set-up code would be taken now. The error wraps ErrSetup or ErrStore.
func (s *Store) Offered(ctx context.Context, code string) error {
	pipe := s.rdb.Pipeline()
	accounts, there := pipe.HLen(ctx, keyAccounts), pipe.Exists(ctx, keySetup(people.Hash(code)))
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("%w: offered: %w", ErrStore, err)
	}
	if accounts.Val() > 0 || there.Val() == 0 {
		return ErrSetup
	}
	return nil
}
