package page

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/feature/plural"
)

var placeholder = regexp.MustCompile(`\{\w+\}`)

func names(text string) []string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// TestWords_EveryLanguageSaysEverything: no key is missing, none is unknown, and none lost one
// of its values.
func TestWords_EveryLanguageSaysEverything(t *testing.T) {
	t.Parallel()
	english := languages[0].words
	for _, l := range languages {
		for key, want := range english {
			got, ok := l.words[key]
			if !ok || got.text == "" && len(got.forms) == 0 {
				t.Errorf("%s has no %q", l.Tag, key)
				continue
			}
			if (got.forms == nil) != (want.forms == nil) {
				t.Errorf("%s: %q is a plural in one of the languages only", l.Tag, key)
			}
			all := strings.Join(append(slices.Collect(maps.Values(got.forms)), got.text), " ")
			wanted := strings.Join(append(slices.Collect(maps.Values(want.forms)), want.text), " ")
			if !slices.Equal(names(all), names(wanted)) {
				t.Errorf("%s: %q has the values %v, want %v", l.Tag, key, names(all), names(wanted))
			}
		}
		for key := range l.words {
			if _, ok := english[key]; !ok {
				t.Errorf("%s has an unknown key %q", l.Tag, key)
			}
		}
	}
}

// TestWords_HaveTheFormsOfTheirLanguage asks the library which forms numbers take.
func TestWords_HaveTheFormsOfTheirLanguage(t *testing.T) {
	t.Parallel()
	for _, l := range languages {
		needs := map[string]bool{}
		for n := range 1000 {
			needs[formNames[plural.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)]] = true
		}
		for key, p := range l.words {
			for form := range needs {
				if p.forms != nil && p.forms[form] == "" {
					t.Errorf("%s: %q lacks the form %q", l.Tag, key, form)
				}
			}
		}
	}
}

func TestWords_SayNumbersAsTheirLanguageDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang string
		n    int64
		want string
	}{
		{"en", 1, "1 person is ahead of you."}, {"en", 1234, "1,234 people are ahead of you."},
		{"de", 1, "1 Person ist vor Ihnen."}, {"de", 12345, "12.345 Personen sind vor Ihnen."},
		{"fr", 0, "0 personne est devant vous."}, {"fr", 2, "2 personnes sont devant vous."},
		{"ko", 1000, "앞에 1,000명이 있어요."}, {"ja", 3, "あなたの前に3人います。"},
		{"ar", 2, "أمامك شخصان."}, {"ar", 3, "أمامك 3 أشخاص."}, {"ar", 11, "أمامك 11 شخصًا."}, {"ar", 100, "أمامك 100 شخص."},
		{"nonsense", 5, "5 people are ahead of you."},
	} {
		v := View{Lang: c.lang, Standing: &Standing{}}
		if got := v.fill("ahead", map[string]any{"n": c.n}); got != c.want {
			t.Errorf("%s: %d is %q, want %q", c.lang, c.n, got, c.want)
		}
	}
}

func TestPickLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ accept, address, cookie, want string }{
		{"", "", "", "en"},
		{"ko-KR,ko;q=0.9,en;q=0.8", "", "", "ko"},
		{"zh-TW,zh;q=0.9", "", "", "zh-Hant"}, {"zh-HK", "", "", "zh-Hant"}, {"zh-CN", "", "", "zh-Hans"}, {"zh", "", "", "zh-Hans"},
		{"pt-BR", "", "", "pt"}, {"es-419", "", "", "es"}, {"de-CH;q=0.3, fr-CH", "", "", "fr"}, {"ar-EG", "", "", "ar"},
		{"sw", "", "", "en"}, {"*", "", "", "en"}, {";;;q=x", "", "", "en"}, {strings.Repeat("ko,", 5000), "", "", "en"},
		{"de", "ja", "", "ja"}, {"de", "", "fr", "fr"}, {"de", "ja", "fr", "ja"}, {"de", "xx", "../../etc", "de"},
	} {
		if got := PickLanguage(c.accept, c.address, c.cookie); got != c.want {
			t.Errorf("%.40q, %q, %q: %s, want %s", c.accept, c.address, c.cookie, got, c.want)
		}
	}
}

func TestWaitIsARangeInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high int64
		want      string
	}{
		{0, 0, "known in a moment"},
		{0, 5, "less than a minute"},
		{10, 59, "less than a minute"},
		{10, 60, "about 1 minute"},
		{20, 61, "up to 2 minutes"},
		{60, 61, "about 1 to 2 minutes"},
		{120, 120, "about 2 minutes"},
		{250, 420, "about 4 to 7 minutes"},
		{0, 600, "up to 10 minutes"},
		{1190, 1200, "about 19 to 20 minutes"},
		{1290, 1330, "about 20 to 25 minutes"},
		{1500, 1500, "about 25 minutes"},
		{3700, 10800, "about 60 to 180 minutes"},
		{9000, 10801, "about 2 to 4 hours"},
		{12000, 23000, "about 3 to 7 hours"},
		{86399, 90000, "about 23 to 25 hours"},
		{86400, 1 << 40, "more than a day"},
	} {
		v := View{Standing: &Standing{State: "waiting", LowS: c.low, HighS: c.high}}
		if got := v.wait(); got != c.want {
			t.Errorf("wait of %d to %d s is %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

func TestWaitNeverPromisesTooMuch(t *testing.T) {
	t.Parallel()
	for low := int64(0); low < 12000; low += 7 {
		for _, more := range []int64{0, 1, 59, 60, 300, 4000} {
			high := low + more
			key, a, b := waitPhrase(low, high)
			unit := int64(60)
			if key == "wait_hours" {
				unit = 3600
			}
			if (key == "wait_range" || key == "wait_hours") && (a*unit > low || b*unit < high || a >= b) {
				t.Fatalf("wait of %d to %d s is told as %d to %d times %d s", low, high, a, b, unit)
			}
			if (key == "wait_n" || key == "wait_up_to") && b*unit < high {
				t.Fatalf("wait of up to %d s is told as %d times %d s", high, b, unit)
			}
		}
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	for s, want := range map[int64]string{0: "0:00", 9: "0:09", 65: "1:05", 3599: "59:59", 3600: "1:00:00", 90061: "25:01:01"} {
		if got := clock(s); got != want {
			t.Errorf("%d s is %q, want %q", s, got, want)
		}
	}
}

// TestScriptHasItsWords holds the script and the words together, both ways.
func TestScriptHasItsWords(t *testing.T) {
	t.Parallel()
	words, script, used := View{}.scriptWords(), string(sourceOf("queue.js")), map[string]bool{"_sep": true}
	for _, m := range regexp.MustCompile(`"([a-z][a-z0-9_]*)"`).FindAllStringSubmatch(script, -1) {
		used[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`\b(?:say|named|count)\("(\w+)"`).FindAllStringSubmatch(script, -1) {
		if words[m[1]] == nil {
			t.Errorf("the script says %q, which is not among its words", m[1])
		}
	}
	states := []string{"joining", "expired", "left", "done", "closed", "not_open", "full", "paused", "away", "trouble", "cookies", "loop", "moved", "proof"}
	for _, s := range states {
		used[s+"_title"], used[s+"_text"] = true, true
		if s != "proof" && (words[s+"_title"] == nil || words[s+"_text"] == nil) {
			t.Errorf("the script tells the state %q, which has no words", s)
		}
	}
	for key := range words {
		if !used[key] && !strings.HasPrefix(key, "wait_") && !strings.HasPrefix(key, "new_") {
			t.Errorf("%q goes to every visitor, and the script never says it", key)
		}
	}
}
