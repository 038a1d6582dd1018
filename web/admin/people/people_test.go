package people_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/web/admin/people"
)

var now = time.Date(2026, 5, 4, 18, 0, 0, 0, time.UTC)

func TestRole_EachMayWhatTheOnesBelowMay(t *testing.T) {
	t.Parallel()
	all := people.Roles()
	for i, have := range all {
		for j, need := range all {
			if got := (people.Actor{Role: have}).May(need); got != (i >= j) {
				t.Errorf("%s may do what needs %s: %v", have, need, got)
			}
		}
		if back, err := people.ParseRole(have.String()); err != nil || back != have {
			t.Errorf("%s is read as %s, %v", have, back, err)
		}
	}
	if (people.Actor{Role: people.Admin}).May(people.Nobody) {
		t.Error("a route that needs no role is open to administrators: it must be closed to all")
	}
	for _, text := range []string{"", "root", "Admin", "nobody"} {
		if _, err := people.ParseRole(text); !errors.Is(err, people.ErrRole) {
			t.Errorf("%q is a role: %v", text, err)
		}
	}
}

func TestActor_RoomsConfineTokens(t *testing.T) {
	t.Parallel()
	free, bound := people.Actor{}, people.Actor{Rooms: []string{"sale"}}
	if !free.MayRoom("any") || !bound.MayRoom("sale") || bound.MayRoom("other") || bound.MayRoom("") || free.Confined() || !bound.Confined() {
		t.Error("rooms do not confine")
	}
}

func TestRoleMap(t *testing.T) {
	t.Parallel()
	m := people.RoleMap{"ops": people.Operator, "boss": people.Admin}
	for name, c := range map[string]struct {
		claim any
		want  people.Role
	}{
		"a text": {"ops", people.Operator}, "the highest of several": {[]any{"x", "ops", "boss"}, people.Admin},
		"an unknown text": {"guest", people.Nobody}, "nothing": {nil, people.Nobody}, "an odd type": {map[string]any{"ops": true}, people.Nobody},
		"a list of odd types": {[]any{1.0, true, nil}, people.Nobody}, "an empty text": {"", people.Nobody},
	} {
		if got := m.Of(c.claim); got != c.want {
			t.Errorf("%s gives %s, want %s", name, got, c.want)
		}
	}
}

func TestCheckPassword(t *testing.T) {
	t.Parallel()
	for password, good := range map[string]bool{
		"correct horse": true, "пароль-длинный": true, "short": false, strings.Repeat("a", 20): false,
		strings.Repeat("ab", 200): false, "i am ada.lovelace": false, "\xff\xfe-no-text-at-all": false, "": false,
	} {
		if err := people.CheckPassword(password, "ada.lovelace"); (err == nil) != good || err != nil && !errors.Is(err, people.ErrPassword) {
			t.Errorf("%q: %v, want usable %v", password, err, good)
		}
	}
}

func TestHasher_ComparesAndTakesAsLongForNobody(t *testing.T) {
	t.Parallel()
	h, err := people.NewHasher(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := h.Hash(t.Context(), "correct horse")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Fatalf("the hash is %q, %v", hash, err)
	}
	for _, c := range []struct {
		password, hash string
		want           bool
	}{{"correct horse", hash, true}, {"correct Horse", hash, false}, {"correct horse", "", false}, {"", "", false}, {"", hash, false}, {strings.Repeat("a", 10_000), hash, false}} {
		if got, err := h.Matches(t.Context(), c.password, c.hash); got != c.want || err != nil {
			t.Errorf("%.20q against %.20q: %v, %v", c.password, c.hash, got, err)
		}
	}
	if _, err := h.Matches(t.Context(), "x", "no hash"); err == nil {
		t.Error("what is no hash is compared")
	}
	// Only the work itself is measured: a hash of a second makes noise small.
	slow, err := people.NewHasher(32<<10, 3)
	if err != nil {
		t.Fatal(err)
	}
	known, err := slow.Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	shortest := func(hash string) time.Duration {
		best := time.Hour
		for range 5 {
			began := time.Now()
			_, _ = slow.Matches(t.Context(), "wrong password", hash)
			best = min(best, time.Since(began))
		}
		return best
	}
	with, without := shortest(known), shortest("")
	if without < with/3 || without > with*3 {
		t.Errorf("a known account takes %v, an unknown one %v", with, without)
	}
}

func TestHasher_WaitsNoLongerThanItsCaller(t *testing.T) {
	t.Parallel()
	h, err := people.NewHasher(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failed := 0
	for range 64 { // an ended context and a free turn are both there: either may be taken
		if _, err := h.Hash(ctx, "x"); errors.Is(err, context.Canceled) {
			failed++
		}
	}
	if failed == 0 {
		t.Error("a caller who went away is served")
	}
}

// The table of RFC 6238, appendix B, cut to six digits.
func TestStepTOTP_CountsOnceAndOnlyNow(t *testing.T) {
	t.Parallel()
	const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" // "12345678901234567890"
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	for _, c := range []struct {
		name string
		code string
		now  int64
		last int64
		want int64 // 0 = refused
	}{
		{"RFC vector 1", "287082", 59, 0, 1},
		{"RFC vector 2", "081804", 1111111109, 0, 37037036},
		{"RFC vector 3", "005924", 1234567890, 0, 41152263},
		{"with the app's space", "005 924", 1234567890, 0, 41152263},
		{"one step old", "005924", 1234567890 + 30, 0, 41152263},
		{"one step ahead", "005924", 1234567890 - 30, 0, 41152263},
		{"two steps old", "005924", 1234567890 + 60, 0, 0},
		{"two steps ahead", "005924", 1234567890 - 60, 0, 0},
		{"again", "005924", 1234567890, 41152263, 0},
		{"again, a step later", "005924", 1234567890 + 30, 41152263, 0},
		{"before one that was used", "005924", 1234567890, 41152264, 0},
		{"after one that was used", "005924", 1234567890, 41152262, 41152263},
		{"another code", "005925", 1234567890, 0, 0},
		{"too short", "00592", 1234567890, 0, 0},
		{"letters", "abcdef", 1234567890, 0, 0},
		{"nothing", "", 1234567890, 0, 0},
	} {
		got, err := people.StepTOTP(secret, c.code, at(c.now), c.last)
		if got != c.want || (err != nil) != (c.want == 0) || err != nil && !errors.Is(err, people.ErrCode) {
			t.Errorf("%s: step %d, %v; want %d", c.name, got, err, c.want)
		}
	}
	if _, err := people.StepTOTP("not base32 !", "005924", at(1234567890), 0); !errors.Is(err, people.ErrCode) {
		t.Errorf("a broken secret: %v", err)
	}
}

func account(t *testing.T) (a people.Account, secret string, codes []string) {
	t.Helper()
	a, err := people.NewAccount("ada", people.Admin, now)
	if err != nil {
		t.Fatal(err)
	}
	secret, address, err := people.NewTOTP("Anteroom", "ada")
	if err != nil || !strings.HasPrefix(address, "otpauth://totp/Anteroom:ada?") || !strings.Contains(address, "secret="+secret) {
		t.Fatalf("the app is told %q, %v", address, err)
	}
	if again, err := people.AddressTOTP("Anteroom", "ada", secret); err != nil || again != address {
		t.Errorf("and then %q, %v", again, err)
	}
	code, err := people.CodeTOTP(secret, now)
	if err != nil {
		t.Fatal(err)
	}
	if a, codes, err = a.WithPassword("hash").WithTOTP(secret, code, now); err != nil {
		t.Fatal(err)
	}
	return a, secret, codes
}

func TestAccount_ACodeCountsOnce(t *testing.T) {
	t.Parallel()
	a, secret, codes := account(t)
	first, _ := people.CodeTOTP(secret, now)
	if _, _, err := a.UseCode(first, now); !errors.Is(err, people.ErrCode) {
		t.Error("the code that set the app up counts again")
	}
	later := now.Add(30 * time.Second)
	next, _ := people.CodeTOTP(secret, later)
	used, recovery, err := a.UseCode(next, later)
	if err != nil || recovery {
		t.Fatalf("the next code: %v", err)
	}
	if _, _, err := used.UseCode(next, later); !errors.Is(err, people.ErrCode) {
		t.Error("a code counts twice")
	}
	if len(codes) != 10 || len(used.Recovery) != 10 {
		t.Fatalf("%d recovery codes", len(codes))
	}
	typed := " " + strings.ToUpper(strings.ReplaceAll(codes[3], "-", " ")) + " "
	once, recovery, err := used.UseCode(typed, later)
	if err != nil || !recovery || len(once.Recovery) != 9 || len(used.Recovery) != 10 {
		t.Fatalf("a recovery code: %v, %d left", err, len(once.Recovery))
	}
	if _, _, err := once.UseCode(codes[3], later); !errors.Is(err, people.ErrCode) {
		t.Error("a recovery code counts twice")
	}
	fresh, _ := once.WithRecovery()
	if _, _, err := fresh.UseCode(codes[4], later); !errors.Is(err, people.ErrCode) {
		t.Error("a recovery code of an older list counts")
	}
	if _, _, err := (people.Account{}).UseCode("", later); !errors.Is(err, people.ErrCode) {
		t.Error("an account without an app takes an empty code")
	}
}

func TestAccount_InvitationsAreGoodOnceAndForADay(t *testing.T) {
	t.Parallel()
	before, _, _ := account(t)
	a, code := before.WithInvite(now)
	if a.Password != "" || a.TOTP != "" || len(a.Recovery) != 0 || a.Epoch != before.Epoch+1 || a.Governs() {
		t.Errorf("an invitation leaves %+v", a)
	}
	disabled := a
	disabled.Disabled = true
	for name, c := range map[string]struct {
		a    people.Account
		code string
		at   time.Time
		good bool
	}{
		"good": {a, code, now.Add(people.InviteLife - 1), true}, "too old": {a, code, now.Add(people.InviteLife), false},
		"wrong": {a, code + "x", now, false}, "empty": {a, "", now, false}, "used": {a.WithPassword("hash"), code, now, false},
		"used, empty": {a.WithPassword("hash"), "", now, false}, "disabled": {disabled, code, now, false},
	} {
		if err := c.a.Invited(c.code, c.at); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSession_Ends(t *testing.T) {
	t.Parallel()
	a, _, _ := account(t)
	s := people.Session{Account: a.ID, Epoch: a.Epoch, Born: now, Seen: now}
	changed, disabled := a.WithPassword("other"), a
	disabled.Disabled = true
	busy := s
	busy.Seen = now.Add(people.SessionLife - time.Minute)
	for name, c := range map[string]struct {
		s    people.Session
		a    people.Account
		at   time.Time
		want string
	}{
		"fresh": {s, a, now, ""}, "almost idle": {s, a, now.Add(people.SessionIdle - 1), ""}, "idle": {s, a, now.Add(people.SessionIdle), "idle"},
		"busy all day": {busy, a, now.Add(people.SessionLife - 1), ""}, "too old though busy": {busy, a, now.Add(people.SessionLife), "too old"},
		"password changed": {s, changed, now, "ended"}, "disabled": {s, disabled, now, "disabled"},
	} {
		if got := c.s.Over(c.a, c.at); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestToken_IsShownOnceScopedAndExpires(t *testing.T) {
	t.Parallel()
	by := people.Actor{Name: "ada", Role: people.Admin}
	token, text, err := people.NewToken(" deploy ", people.Operator, []string{"sale", "a", "sale"}, time.Hour, by, now)
	if err != nil || token.Name != "deploy" || len(token.Rooms) != 2 || strings.Contains(token.Hash, text) {
		t.Fatalf("%+v, %v", token, err)
	}
	id, secret, ok := people.CutToken(text)
	if !ok || id != token.ID {
		t.Fatalf("%q is taken apart as %q, %v", text, id, ok)
	}
	actor, err := token.Actor(secret, now.Add(time.Hour-1))
	if err != nil || actor.Role != people.Operator || !actor.Token || !actor.MayRoom("sale") || actor.MayRoom("b") {
		t.Errorf("acts as %+v, %v", actor, err)
	}
	for name, fails := range map[string]error{
		"expired": second(token.Actor(secret, now.Add(time.Hour))), "wrong": second(token.Actor(secret+"a", now)),
		"empty": second(token.Actor("", now)), "no hash": second(people.Token{Expires: now.Add(1)}.Actor("", now)),
	} {
		if !errors.Is(fails, people.ErrToken) {
			t.Errorf("%s: %v", name, fails)
		}
	}
	operator := people.Actor{Name: "bob", Role: people.Operator}
	for name, fails := range map[string]error{
		"no name": third(people.NewToken("  ", people.Viewer, nil, time.Hour, by, now)), "a line in the name": third(people.NewToken("a\nb", people.Viewer, nil, time.Hour, by, now)),
		"no role": third(people.NewToken("a", people.Nobody, nil, time.Hour, by, now)), "more than its maker may": third(people.NewToken("a", people.Admin, nil, time.Hour, operator, now)),
		"no life": third(people.NewToken("a", people.Viewer, nil, 0, by, now)), "for ever": third(people.NewToken("a", people.Viewer, nil, 1000*24*time.Hour, by, now)),
		"too many rooms": third(people.NewToken("a", people.Viewer, make([]string, 101), time.Hour, by, now)),
	} {
		if !errors.Is(fails, people.ErrToken) {
			t.Errorf("%s: %v", name, fails)
		}
	}
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }

func TestCleanLogin(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{" Ada ": "ada", "a@b.example": "a@b.example", "x": "x", "": "", "a b": "", "-a": "", "<b>": "", strings.Repeat("a", 65): "", "ада": ""} {
		if got, err := people.CleanLogin(in); (want == "") != (err != nil) || err == nil && got != want {
			t.Errorf("%q is %q, %v; want %q", in, got, err, want)
		}
	}
}

// Two people of one provider, or of two, never meet at one account.
func TestProviderHandle_KeepsPairsApart(t *testing.T) {
	t.Parallel()
	if people.ProviderHandle("https://a", "b1") == people.ProviderHandle("https://ab", "1") || people.ProviderHandle("a", "b") == people.LoginHandle("b") {
		t.Error("two pairs have one handle")
	}
}

func FuzzCutToken(f *testing.F) {
	f.Add("anteroom_a_b")
	f.Add("anteroom__")
	f.Add("Bearer anteroom_")
	f.Fuzz(func(t *testing.T, text string) {
		id, secret, ok := people.CutToken(text)
		if ok && "anteroom_"+id+"_"+secret != text {
			t.Errorf("%q is taken apart as %q and %q", text, id, secret)
		}
	})
}
