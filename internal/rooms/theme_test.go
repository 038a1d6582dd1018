package rooms_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/rooms"
)

const themed = gated + `    theme:
      logo: /logo.svg
      accent: "#0a5"
      css: sale.css
      texts: {turn_text: Come in}
`

func TestTheme_FilesAreReadBesideTheRoomsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "rooms.yaml")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("rooms.yaml", themed)
	write("sale.css", "h1 { color: red }")
	g, err := rooms.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := g.Get("sale")
	if th := first.Theme; th.Problem != "" || string(th.CSS) != "h1 { color: red }" || th.Texts["turn_text"] != "Come in" || th.Accent != "#0a5" {
		t.Errorf("the theme is %+v", th)
	}
	write("sale.css", "h1 { color: blue }")
	if err := g.Reload(); err != nil {
		t.Fatal(err)
	}
	if second, _ := g.Get("sale"); string(second.Theme.CSS) == string(first.Theme.CSS) {
		t.Error("the served name did not change with the style")
	}
	write("sale.css", strings.Repeat("x", 200<<10))
	if err := g.Reload(); err != nil {
		t.Fatalf("a bad theme cost the rooms: %v", err)
	}
	var said strings.Builder
	g.WarnThemes(slog.New(slog.NewTextHandler(&said, nil)))
	if r, _ := g.Get("sale"); r.Theme.Problem == "" || r.Theme.CSS != nil || !strings.Contains(said.String(), "built-in page") {
		t.Errorf("a style that is too large: %+v, said %q", r.Theme, said.String())
	}
}

func TestTheme_MistakesNameTheirLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"      accent: red\n":                 "theme.accent is red",
		"      logo: http://x/y.png\n":        "neither a path nor an https URL",
		"      logo: javascript:alert(1)\n":   "neither a path nor an https URL",
		"      font: x\n":                     `unknown field "font" in theme`,
		"      texts: {Turn-Text: x}\n":       `the key "Turn-Text"`,
		"      texts: {turn_text: \"a\\eb\"}": "control character",
	} {
		_, err := rooms.Parse("rooms.yaml", []byte(gated+"    theme:\n"+in))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "rooms.yaml:9") {
			t.Errorf("%q: %v, want %q with line 9", in, err, want)
		}
	}
}
