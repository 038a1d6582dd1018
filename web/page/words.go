package page

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
)

//go:embed words/en.json
var englishJSON []byte

// english is read-only.
var english = readWords(englishJSON)

func readWords(file []byte) map[string]string {
	var words map[string]string
	if err := json.Unmarshal(file, &words); err != nil {
		panic("page: embedded words: " + err.Error()) // checked by every test
	}
	return words
}

// language falls back to the one language there is.
func language(string) (lang string, words map[string]string) { return "en", english }

// phrase fills {name} in a phrase with the value that follows the name.
func phrase(text string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		text = strings.ReplaceAll(text, "{"+pairs[i]+"}", pairs[i+1])
	}
	return text
}

func (v View) lang() string { lang, _ := language(v.Lang); return lang }

func (v View) word(key string, pairs ...string) string {
	_, words := language(v.Lang)
	return phrase(words[key], pairs...)
}

// scriptWords are the words that queue.js says; those that only the server writes stay here.
func (v View) scriptWords() map[string]string {
	out := map[string]string{}
	_, words := language(v.Lang)
	for key, text := range words {
		serverOnly := strings.HasPrefix(key, "next") || strings.HasPrefix(key, "unknown") || strings.HasPrefix(key, "leave") || strings.HasPrefix(key, "resume") || strings.HasPrefix(key, "arrive") ||
			key == "footer" || key == "checked_load" || key == "check" || key == "progress" || key == "turn" || key == "turn_big" || key == "enter"
		if !serverOnly {
			out[key] = text
		}
	}
	return out
}

func (v View) position() string {
	return number(v.Standing.Position)
}

func (v View) ahead() string {
	n := v.Standing.Ahead
	switch {
	case v.Standing.Position == 0:
		return v.word("ahead_unknown")
	case n == 0:
		return v.word("ahead_0")
	case n == 1:
		return v.word("ahead_1")
	}
	return v.word("ahead_n", "n", number(n))
}

// wait says a range of seconds in words, rounded outwards so that it stays true. queue.js
// says the same.
func (v View) wait() string {
	low, high := v.Standing.LowS, v.Standing.HighS
	key, a, b := waitPhrase(low, high)
	return v.word(key, "a", strconv.FormatInt(a, 10), "b", strconv.FormatInt(b, 10))
}

// waitPhrase picks the phrase for a wait of low to high seconds, with its two numbers.
// Up to 20 minutes they are exact minutes, up to 3 hours steps of 5 minutes.
func waitPhrase(low, high int64) (key string, a, b int64) {
	a, b = low/60, (high+59)/60
	if b > 20 {
		a, b = a/5*5, (b+4)/5*5
	}
	switch {
	case high <= 0:
		return "wait_unknown", 0, 0
	case low >= 24*3600:
		return "wait_day", 0, 0
	case b > 180:
		a = max(1, low/3600)
		return "wait_hours", a, max(a+1, (high+3599)/3600)
	case high < 60:
		return "wait_under", 0, 0
	case b == 1:
		return "wait_1", a, b
	case a == 0:
		return "wait_up_to", a, b
	case a >= b:
		return "wait_n", a, b
	}
	return "wait_range", a, b
}

// number groups thousands.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
