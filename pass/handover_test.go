package pass_test

import (
	"errors"
	"testing"
	"time"

	"github.com/anteroom/anteroom/pass"
)

func TestHandover_IsNoPassAndAPassIsNoHandover(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	v := at(s, noon)
	of := pass.Claims{Room: "sale", Visitor: "visitor", Generation: 2, Since: noon.Add(-time.Minute)}
	token, made, err := s.SignHandover(of, noon)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := v.VerifyHandover(t.Context(), token, "sale", 2); err != nil || got.ID != made.ID || !got.Expires.Equal(made.Expires) || !got.Since.Equal(of.Since) {
		t.Errorf("VerifyHandover answered %+v, %v; want %+v", got, err, made)
	}
	if _, err := v.Verify(t.Context(), token, "sale", 2); !errors.Is(err, pass.ErrHandover) {
		t.Errorf("a hand-over token as a pass: %v, want ErrHandover", err)
	}
	if _, err := at(s, noon.Add(pass.HandoverLife+6*time.Second)).VerifyHandover(t.Context(), token, "sale", 2); !errors.Is(err, pass.ErrExpired) {
		t.Errorf("a hand-over token after its life: %v, want ErrExpired", err)
	}
	p, _, err := s.Sign("sale", "visitor", 2, noon, noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.VerifyHandover(t.Context(), p, "sale", 2); !errors.Is(err, pass.ErrHandover) {
		t.Errorf("a pass as a hand-over token: %v, want ErrHandover", err)
	}
}

func TestRenew_KeepsWhoAndSinceWhen(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	_, first, err := s.Sign("sale", "visitor", 2, noon, noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := s.Renew(first, noon.Add(50*time.Second), noon.Add(2*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	got, err := at(s, noon.Add(110*time.Second)).Verify(t.Context(), token, "sale", 0)
	if err != nil || got.Visitor != first.Visitor || !got.Since.Equal(noon) || got.ID == first.ID {
		t.Errorf("the renewed pass says %+v, %v", got, err)
	}
}

func TestGrace_AcceptsAPassForAWhileAfterItsEnd(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	token, _, err := s.Sign("sale", "visitor", 2, noon, noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]error{
		time.Second: nil, 61 * time.Second: nil, 89 * time.Second: nil, 91 * time.Second: pass.ErrExpired, -time.Minute: pass.ErrNotYet,
	} {
		v := at(s, noon.Add(after))
		v.Grace = 30 * time.Second
		if _, err := v.Verify(t.Context(), token, "sale", 0); !errors.Is(err, want) {
			t.Errorf("%v after it was issued, with 30 s of grace: %v, want %v", after, err, want)
		}
	}
}

func TestCutHandover(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string][2]string{
		"/?anteroom_pass=t":                  {"/", "t"},
		"/a?anteroom_pass=t&b=1":             {"/a?b=1", "t"},
		"/a?b=1&anteroom_pass=t":             {"/a?b=1", "t"},
		"/a?b=1&anteroom_pass=t&c=%2f#x?y":   {"/a?b=1&c=%2f#x?y", "t"},
		"/a?&anteroom_pass=t":                {"/a?", "t"},
		"/a?anteroom_pass=t&&":               {"/a?&", "t"},
		"/a?anteroom_pass=s&anteroom_pass=t": {"/a", "t"},
		"/a?anteroom%5fpass=a%2Eb":           {"/a", "a.b"},
		"/a?anteroom_pass=":                  {"/a", ""},
		"/a?anteroom_pass":                   {"/a?anteroom_pass", ""},
		"/a?Anteroom_Pass=t":                 {"/a?Anteroom_Pass=t", ""},
		"/a?x=anteroom_pass=t":               {"/a?x=anteroom_pass=t", ""},
		"/anteroom_pass=t":                   {"/anteroom_pass=t", ""},
		"/a#?anteroom_pass=t":                {"/a#?anteroom_pass=t", ""},
		"/a?b=%zz&anteroom_pass=%zz":         {"/a?b=%zz", "%zz"},
		"":                                   {"", ""},
	} {
		clean, token, found := pass.CutHandover(uri)
		if clean != want[0] || token != want[1] || found != (clean != uri) {
			t.Errorf("CutHandover(%q) is %q, %q, %v; want %q", uri, clean, token, found, want)
		}
	}
}

func FuzzCutHandover(f *testing.F) {
	f.Add("/a?b=1&anteroom_pass=t&c=%2f#x?y")
	f.Add("/a?anteroom%5Fpass=%zz&&")
	f.Add("?#?&=")
	f.Fuzz(func(t *testing.T, uri string) {
		clean, _, found := pass.CutHandover(uri)
		if !found && clean != uri {
			t.Fatalf("%q became %q without a token", uri, clean)
		}
		if _, again, more := pass.CutHandover(clean); more {
			t.Fatalf("%q still has %q after the cut: %q", uri, again, clean)
		}
		back, token, ok := pass.CutHandover(pass.AddHandover(uri, "a.b-c_d"))
		if back != clean || token != "a.b-c_d" || !ok {
			t.Fatalf("%q with a token and without is %q, want %q", uri, back, clean)
		}
	})
}
