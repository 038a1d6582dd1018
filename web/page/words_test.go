package page

import (
	"bytes"
	"regexp"
	"testing"
)

func TestWaitIsARangeInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high int64
		want      string
	}{
		{0, 0, "known in a moment"},
		{0, 5, "less than a minute"},
		{10, 59, "less than a minute"},
		{10, 60, "about a minute"},
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
		v := View{Standing: &Standing{LowS: c.low, HighS: c.high}}
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
			if (key == "wait_n" || key == "wait_up_to" || key == "wait_1") && b*unit < high {
				t.Fatalf("wait of up to %d s is told as %d times %d s", high, b, unit)
			}
		}
	}
}

func TestNumberGroupsThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %q, want %q", n, got, want)
		}
	}
}

// TestScriptHasItsWords holds the script and the words together.
func TestScriptHasItsWords(t *testing.T) {
	t.Parallel()
	script, err := files.ReadFile("static/queue.js")
	if err != nil {
		t.Fatal(err)
	}
	words := View{}.scriptWords()
	for _, m := range regexp.MustCompile(`\b(?:say|named)\("(\w+)"|"((?:wait|ahead|join)_\w+)"`).FindAllSubmatch(script, -1) {
		key := string(bytes.Join(m[1:], nil))
		if words[key] == "" {
			t.Errorf("the script says %q, which is not among its words", key)
		}
	}
	for _, m := range regexp.MustCompile(`\b(?:tell|end)\("(\w+)"`).FindAllSubmatch(script, -1) {
		if key := string(m[1]); words[key+"_title"] == "" || words[key+"_text"] == "" {
			t.Errorf("the script tells the state %q, which has no words", key)
		}
	}
}
