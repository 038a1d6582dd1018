package gate

import (
	"net/http"
	"testing"

	"github.com/anteroom/anteroom/pass"
)

// What cookie finds, the standard reader finds first.
func TestCookie_IsTheFirstOfItsName(t *testing.T) {
	t.Parallel()
	for _, lines := range [][]string{
		{"p=a.b-c"}, {"x=1; p=a; p=b"}, {"x=1;p=a;y=2"}, {"x=1;\tp=a "}, {"x=1", "p=a; p=b"}, {"pp=1; xp=2; p=a"}, {" p=a"},
	} {
		want := (&http.Request{Header: http.Header{"Cookie": lines}}).CookiesNamed("p")[0].Value
		if got := cookie(lines, "p"); got != want {
			t.Errorf("cookie of %q is %q, want %q", lines, got, want)
		}
	}
	for _, lines := range [][]string{nil, {""}, {"p"}, {"p="}, {"x=p=a"}, {"P=a"}, {";;"}} {
		if got := cookie(lines, "p"); got != "" {
			t.Errorf("cookie of %q is %q, want none", lines, got)
		}
	}
}

func TestCutHandover_IsThatOfPass(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"/", "/a?b=c", "/a?anteroom_pass=t", "/a?x=1&anteroom_pass=t&y=2#f", "/a?%61nteroom_pass=t", "/a?anteroom%5Fpass=t&x",
		"/anteroom_pass=t", "/a#?anteroom_pass=t", "/a?x=%", "/a?anteroom_pass", "/a?b=anteroom_pass=t",
	} {
		clean, token, found := cutHandover(uri)
		wantClean, wantToken, want := pass.CutHandover(uri)
		if clean != wantClean || token != wantToken || found != want {
			t.Errorf("cutHandover of %q is %q, %q, %v; want %q, %q, %v", uri, clean, token, found, wantClean, wantToken, want)
		}
	}
}

// TestCached_BuildsNothing holds the cached path to what it is for.
func TestCached_BuildsNothing(t *testing.T) {
	h := []string{"_ga=GA1.1.1; basket=9f1c; anteroom_pass_sale=header.payload.signature; consent=all"}
	uri := "/sale/evening-lanterns?block=7&from=mail"
	n := testing.AllocsPerRun(100, func() {
		if cookie(h, "anteroom_pass_sale") == "" {
			t.Error("the cookie was not found")
		}
		if _, _, found := cutHandover(uri); found {
			t.Error("a token was found")
		}
	})
	if n > 0 {
		t.Errorf("it allocates %.0f times", n)
	}
}
