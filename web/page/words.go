package page

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

//go:embed words/*.json
var wordFiles embed.FS

// Language is one that the page speaks.
type Language struct {
	Tag  string // BCP 47, as in the page's address and its lang attribute
	Name string // in the language itself
	RTL  bool

	tag     language.Tag
	printer *message.Printer
	words   map[string]phrase
}

// Languages are all that the page speaks, English first.
func Languages() []*Language { return slices.Clone(languages) }

// languages are read-only; every test reads them.
var languages = readLanguages(
	"en", "English", "ko", "한국어", "ja", "日本語", "zh-Hans", "简体中文", "zh-Hant", "繁體中文",
	"es", "Español", "fr", "Français", "de", "Deutsch", "pt", "Português", "ar", "العربية",
)

func readLanguages(pairs ...string) (all []*Language) {
	for i := 0; i < len(pairs); i += 2 {
		l := &Language{Tag: pairs[i], Name: pairs[i+1], RTL: pairs[i] == "ar", tag: language.MustParse(pairs[i])}
		// Digits that everybody can compare with what others are shown.
		l.printer = message.NewPrinter(language.MustParse(l.Tag + "-u-nu-latn"))
		file, err := wordFiles.ReadFile("words/" + l.Tag + ".json")
		if err == nil {
			err = json.Unmarshal(file, &l.words)
		}
		if err != nil {
			panic("page: words of " + l.Tag + ": " + err.Error()) // embedded at build time
		}
		all = append(all, l)
	}
	return all
}

// matcher picks by what a browser accepts.
var matcher = func() language.Matcher {
	tags := make([]language.Tag, len(languages))
	for i, l := range languages {
		tags[i] = l.tag
	}
	return language.NewMatcher(tags)
}()

// PickLanguage is the first of the chosen tags (from an address, from a cookie) that the
// page speaks, else what fits an Accept-Language header best, else English.
func PickLanguage(accept string, chosen ...string) string {
	for _, tag := range chosen {
		if Speaks(tag) {
			return tag
		}
	}
	if len(accept) > 1000 {
		accept = ""
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(wanted) == 0 {
		return languages[0].Tag
	}
	_, i, _ := matcher.Match(wanted...)
	return languages[i].Tag
}

// Speaks reports whether there are words for a tag.
func Speaks(tag string) bool {
	return slices.ContainsFunc(languages, func(l *Language) bool { return l.Tag == tag })
}

// HasWord reports whether the page has a word by this key.
func HasWord(key string) bool { _, ok := languages[0].words[key]; return ok }

// speaker falls back to English.
func speaker(tag string) *Language {
	for _, l := range languages {
		if l.Tag == tag {
			return l
		}
	}
	return languages[0]
}

// number groups digits as the language does.
func (l *Language) number(n int64) string { return l.printer.Sprint(number.Decimal(n)) }

// separator is what stands between groups of digits, for the script.
func (l *Language) separator() string {
	return strings.Trim(l.number(1000), "01")
}

// phrase is a text with {names} in it; or one for each plural form that the language has, by
// the name of its CLDR category.
type phrase struct {
	text  string
	forms map[string]string
}

func (p *phrase) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &p.text)
	}
	if err := json.Unmarshal(b, &p.forms); err != nil {
		return fmt.Errorf("a phrase is a text, or texts by plural form: %w", err)
	}
	return nil
}

// MarshalJSON is what the script reads.
func (p phrase) MarshalJSON() ([]byte, error) {
	if p.forms != nil {
		return json.Marshal(p.forms)
	}
	return json.Marshal(p.text)
}

// of picks the text for a number.
func (p phrase) of(l *Language, n int64) string {
	if p.forms == nil {
		return p.text
	}
	// The last seven digits decide in every language; more do not fit into an int everywhere.
	form := plural.Cardinal.MatchPlural(l.tag, int(n%10_000_000), 0, 0, 0, 0)
	if text, ok := p.forms[formNames[form]]; ok {
		return text
	}
	return p.forms["other"]
}

var formNames = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
}

// fill puts values in for {names}. The plural form goes by n, or else by b.
func (l *Language) fill(p phrase, values map[string]any) string {
	count, _ := values["n"].(int64)
	if _, has := values["n"]; !has {
		count, _ = values["b"].(int64)
	}
	text := p.of(l, count)
	for name, v := range values {
		s, ok := v.(string)
		if n, isNumber := v.(int64); isNumber {
			s, ok = l.number(n), true
		}
		if ok {
			text = strings.ReplaceAll(text, "{"+name+"}", s)
		}
	}
	return text
}

// speaks is the view's language.
func (v View) speaks() *Language { return speaker(v.Lang) }

// word is a phrase of the view's language, or the room's own in its place.
func (v View) word(key string) string { return v.fill(key, nil) }

func (v View) fill(key string, values map[string]any) string {
	l := v.speaks()
	if own := v.Theme.Texts[key]; own != "" {
		return l.fill(phrase{text: own}, values)
	}
	return l.fill(l.words[key], values)
}

// told is the phrase of a key, or the text itself where it is none.
func (v View) told(text string) string {
	if _, ok := languages[0].words[text]; ok {
		return v.word(text)
	}
	return text
}

// serverOnly are the words that the script never says, by the beginning of their keys.
var serverOnly = []string{
	"next", "unknown", "leave", "resume", "arrive", "language", "footer", "checked_load", "check", "progress", "turn_big", "enter",
	"proof_noscript", "sound", "alerts", "ask", "more_time", "place", "room_", "expired_anew", "no_cookies", "store_away", "near", "notify",
}

// scriptToo are those of them that it does.
var scriptToo = []string{"checked", "checked_now", "place_title", "notify_no"}

// scriptWords are the words that the script says.
func (v View) scriptWords() map[string]any {
	l := v.speaks()
	out := map[string]any{"_sep": l.separator()}
	for key, p := range l.words {
		only := slices.ContainsFunc(serverOnly, func(s string) bool { return strings.HasPrefix(key, s) }) && !slices.Contains(scriptToo, key)
		if own := v.Theme.Texts[key]; own != "" {
			p = phrase{text: own}
		}
		if !only {
			out[key] = p
		}
	}
	return out
}

func (v View) position() string { return v.speaks().number(v.Standing.Position) }

func (v View) ahead() string {
	switch n := v.Standing.Ahead; {
	case v.Standing.Position == 0:
		return v.word("ahead_unknown")
	case n == 0:
		return v.word("ahead_0")
	default:
		return v.fill("ahead", map[string]any{"n": n})
	}
}

// wait says a range of seconds in words, rounded outwards so that it stays true. The script
// says the same. Where the room lets nobody in it says that.
func (v View) wait() string {
	if s := v.Standing.State; s != "waiting" {
		return v.word("wait_" + s)
	}
	key, a, b := waitPhrase(v.Standing.LowS, v.Standing.HighS)
	return v.fill(key, map[string]any{"a": a, "b": b})
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
	case b > 1 && a == 0:
		return "wait_up_to", a, b
	case a >= b, b == 1:
		return "wait_n", a, b
	}
	return "wait_range", a, b
}

// clock writes seconds as 1:05 or 2:03:04.
func clock(s int64) string {
	text := fmt.Sprintf("%d:%02d", s/60, s%60)
	if s >= 3600 {
		text = fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return text
}

func minutes(s int64) int64 { return max(1, s/60) }

func itoa(n int) string { return strconv.Itoa(n) }
