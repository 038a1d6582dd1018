package peoplestore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/peoplestore"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/web/admin/people"
)

var _ scs.CtxStore = peoplestore.Sessions{}

var now = time.Date(2026, 5, 4, 18, 0, 0, 0, time.UTC)

// each runs a test on a Redis of its own: the store has one set of keys.
func each(t *testing.T, test func(t *testing.T, s *peoplestore.Store, rdb redis.UniversalClient)) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		rdb := redistest.Embedded(t)
		test(t, peoplestore.New(rdb), rdb)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		rdb := redistest.Start(t).Client(t)
		test(t, peoplestore.New(rdb), rdb)
	})
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// admin is an account that governs.
func admin(t *testing.T, login string) people.Account {
	t.Helper()
	a := must[people.Account](t)(people.NewAccount(login, people.Admin, now))
	a.Password, a.TOTP = "hash", "SECRET"
	return a
}

func TestAccounts_AreKeptAndFound(t *testing.T) {
	each(t, func(t *testing.T, s *peoplestore.Store, _ redis.UniversalClient) {
		ctx := t.Context()
		a := must[people.Account](t)(s.Put(ctx, admin(t, "ada")))
		b := must[people.Account](t)(people.NewAccount("Bob@Example.org ", people.Viewer, now))
		b = must[people.Account](t)(s.Put(ctx, b))
		if got := must[people.Account](t)(s.ByHandle(ctx, people.LoginHandle("bob@example.org"))); got.ID != b.ID || got.Version != 1 || !got.Created.Equal(now) {
			t.Errorf("found %+v, want %+v", got, b)
		}
		all := must[[]people.Account](t)(s.Accounts(ctx))
		if len(all) != 2 || all[0].ID != a.ID || all[1].Role != people.Viewer {
			t.Errorf("accounts are %+v", all)
		}
		if _, err := s.ByHandle(ctx, people.LoginHandle("eve")); !errors.Is(err, peoplestore.ErrNone) {
			t.Errorf("an unknown name: %v", err)
		}
		same := must[people.Account](t)(people.NewAccount("ada", people.Viewer, now))
		if _, err := s.Put(ctx, same); !errors.Is(err, peoplestore.ErrTaken) {
			t.Errorf("a name twice: %v", err)
		}
		if err := s.Remove(ctx, b); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Account(ctx, b.ID); !errors.Is(err, peoplestore.ErrNone) {
			t.Errorf("a removed account: %v", err)
		}
		b.Version = 0
		if _, err := s.Put(ctx, b); err != nil {
			t.Errorf("the name of a removed account is not free: %v", err)
		}
	})
}

// Of many who write what they read at one moment, one is taken: so a code counts once.
func TestPut_OneOfManyAtOnceIsTaken(t *testing.T) {
	each(t, func(t *testing.T, s *peoplestore.Store, _ redis.UniversalClient) {
		a := must[people.Account](t)(s.Put(t.Context(), admin(t, "ada")))
		var wg sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			wg.Go(func() {
				mine := a
				mine.Step = int64(i)
				_, results[i] = s.Put(t.Context(), mine)
			})
		}
		wg.Wait()
		taken := 0
		for _, err := range results {
			switch {
			case err == nil:
				taken++
			case !errors.Is(err, peoplestore.ErrConflict):
				t.Error(err)
			}
		}
		if taken != 1 {
			t.Errorf("%d writes of one version were taken, want 1", taken)
		}
	})
}

// Two administrators who demote each other at one moment do not lock everybody out.
func TestPut_OneWhoGovernsStays(t *testing.T) {
	each(t, func(t *testing.T, s *peoplestore.Store, _ redis.UniversalClient) {
		ctx := t.Context()
		a := must[people.Account](t)(s.Put(ctx, admin(t, "ada")))
		b := must[people.Account](t)(s.Put(ctx, admin(t, "bob")))
		var wg sync.WaitGroup
		var errA, errB error
		wg.Go(func() { down := a; down.Role = people.Viewer; _, errA = s.Put(ctx, down) })
		wg.Go(func() { errB = s.Remove(ctx, b) })
		wg.Wait()
		if (errA == nil) == (errB == nil) || !errors.Is(errors.Join(errA, errB), peoplestore.ErrLast) {
			t.Errorf("%v and %v, want one done and one refused as the last", errA, errB)
		}
		governs := 0
		for _, one := range must[[]people.Account](t)(s.Accounts(ctx)) {
			if one.Governs() {
				governs++
			}
		}
		if governs != 1 {
			t.Errorf("%d govern, want 1", governs)
		}
	})
}

func TestFirst_OneSetUpLinkMakesOneAccount(t *testing.T) {
	each(t, func(t *testing.T, s *peoplestore.Store, rdb redis.UniversalClient) {
		ctx := t.Context()
		one, two := must[string](t)(s.Offer(ctx)), must[string](t)(s.Offer(ctx)) // of two servers
		if one == two || len(one) < 32 {
			t.Fatalf("codes %q and %q", one, two)
		}
		if _, err := s.First(ctx, admin(t, "eve"), "guess"); !errors.Is(err, peoplestore.ErrSetup) {
			t.Errorf("a guessed code: %v", err)
		}
		ttl := must[time.Duration](t)(rdb.PTTL(ctx, "anteroom:{~people}:setup:"+people.Hash(one)).Result())
		if ttl <= 0 || ttl > peoplestore.SetupLife {
			t.Errorf("a set-up link lives for %v, want up to %v", ttl, peoplestore.SetupLife)
		}
		if err := rdb.Del(ctx, "anteroom:{~people}:setup:"+people.Hash(two)).Err(); err != nil { // as when its hour is over
			t.Fatal(err)
		}
		if _, err := s.First(ctx, admin(t, "late"), two); !errors.Is(err, peoplestore.ErrSetup) {
			t.Errorf("a code that is too old: %v", err)
		}
		if err := s.Offered(ctx, one); err != nil {
			t.Errorf("a good code: %v", err)
		}
		var wg sync.WaitGroup
		results := make([]error, 6)
		for i := range results {
			a := admin(t, fmt.Sprintf("a%d", i))
			wg.Go(func() { _, results[i] = s.First(ctx, a, one) })
		}
		wg.Wait()
		if n := len(must[[]people.Account](t)(s.Accounts(ctx))); n != 1 {
			t.Errorf("one link made %d accounts: %v", n, results)
		}
		if code := must[string](t)(s.Offer(ctx)); code != "" {
			t.Error("a link is offered though there is an account")
		}
		if err := s.Offered(ctx, one); !errors.Is(err, peoplestore.ErrSetup) {
			t.Errorf("a used code: %v", err)
		}
	})
}

func TestTokens(t *testing.T) {
	each(t, func(t *testing.T, s *peoplestore.Store, rdb redis.UniversalClient) {
		ctx := t.Context()
		token, text, err := people.NewToken("deploy", people.Operator, []string{"sale"}, time.Hour, people.Actor{Name: "ada", Role: people.Admin}, now)
		if err = errors.Join(err, s.AddToken(ctx, token), s.UsedToken(ctx, token.ID, now)); err != nil {
			t.Fatal(err)
		}
		got := must[people.Token](t)(s.Token(ctx, token.ID))
		if !got.Used.Equal(now) || got.By != "ada" || len(got.Rooms) != 1 {
			t.Errorf("read %+v", got)
		}
		_, secret, _ := people.CutToken(text)
		for _, key := range must[[]string](t)(rdb.Keys(ctx, "*").Result()) {
			for _, value := range rdb.HGetAll(ctx, key).Val() {
				if strings.Contains(value, secret) {
					t.Errorf("%s has the secret of a token", key)
				}
			}
		}
		if list := must[[]people.Token](t)(s.Tokens(ctx)); len(list) != 1 || !list[0].Used.Equal(now) {
			t.Errorf("tokens are %+v", list)
		}
		if err := s.RemoveToken(ctx, token.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Token(ctx, token.ID); !errors.Is(err, peoplestore.ErrNone) {
			t.Errorf("a removed token: %v", err)
		}
		if err := s.RemoveToken(ctx, token.ID); !errors.Is(err, peoplestore.ErrNone) {
			t.Errorf("removed twice: %v", err)
		}
	})
}

func TestAudit_IsReadInPagesAndBounded(t *testing.T) {
	each(t, func(t *testing.T, s *peoplestore.Store, _ redis.UniversalClient) {
		ctx := t.Context()
		for i := range 5 {
			if err := s.Audit(ctx, people.Entry{At: now, Who: "ada", Role: people.Admin, What: fmt.Sprint("did ", i), To: strings.Repeat("ä", 2000)}); err != nil {
				t.Fatal(err)
			}
		}
		first := must[[]people.Entry](t)(s.Past(ctx, "", 3))
		rest := must[[]people.Entry](t)(s.Past(ctx, first[2].ID, 3))
		if len(first) != 3 || len(rest) != 2 || first[0].What != "did 4" || rest[0].What != "did 1" || rest[1].What != "did 0" {
			t.Errorf("pages are %v and %v", first, rest)
		}
		if n := len(first[0].To); n > 1030 {
			t.Errorf("a text of %d bytes is kept", n)
		}
		if odd := must[[]people.Entry](t)(s.Past(ctx, "0-0) evil", 1)); len(odd) != 1 || odd[0].What != "did 4" {
			t.Errorf("an id that is none leads to %v", odd)
		}
	})
}

// A request that was under way at the sign-out does not bring the session back.
func TestSessions_AnEndedOneStaysEnded(t *testing.T) {
	each(t, func(t *testing.T, _ *peoplestore.Store, rdb redis.UniversalClient) {
		ctx := t.Context()
		s := peoplestore.NewSessions(rdb)
		until := time.Now().Add(time.Hour)
		if err := s.CommitCtx(ctx, "a", []byte("data"), until); err != nil {
			t.Fatal(err)
		}
		if b, found, err := s.FindCtx(ctx, "a"); err != nil || !found || string(b) != "data" {
			t.Fatalf("found %q, %v, %v", b, found, err)
		}
		if ttl := rdb.PTTL(ctx, "anteroom:{~people}:session:a").Val(); ttl <= 59*time.Minute || ttl > time.Hour {
			t.Errorf("the session lives for %v", ttl)
		}
		if err := errors.Join(s.DeleteCtx(ctx, "a"), s.CommitCtx(ctx, "a", []byte("data"), until)); err != nil {
			t.Fatal(err)
		}
		if _, found, err := s.FindCtx(ctx, "a"); found || err != nil {
			t.Errorf("an ended session is there again: %v", err)
		}
		if err := s.Commit("b", []byte("x"), time.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, found, err := s.Find("b"); found || err != nil {
			t.Errorf("a session of the past is there: %v", err)
		}
	})
}

func TestStore_AwayIsErrStore(t *testing.T) {
	t.Parallel()
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = rdb.Close() })
	s := peoplestore.New(rdb)
	_, errA := s.Account(t.Context(), "a")
	_, errO := s.Offer(t.Context())
	_, errP := s.Put(t.Context(), people.Account{})
	_, errT := s.Tokens(t.Context())
	_, _, errS := peoplestore.NewSessions(rdb).FindCtx(t.Context(), "a")
	for i, err := range []error{errA, errO, errP, errT, errS, s.Audit(t.Context(), people.Entry{})} {
		if !errors.Is(err, peoplestore.ErrStore) {
			t.Errorf("call %d: %v, want ErrStore", i, err)
		}
	}
}
