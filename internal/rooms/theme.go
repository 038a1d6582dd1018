package rooms

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Theme is how a room's pages look and speak.
type Theme struct {
	Logo       string            // address of a picture: a path, or an https URL
	Accent     string            // colour of buttons and progress, #rgb or #rrggbb
	Background string            // colour behind the page
	Texts      map[string]string // words of the page that are replaced, by their key
	CSSFile    string            // css: a file beside the rooms file
	Template   string            // template: a file that replaces the page
	// CSS is what CSSFile holds.
	CSS []byte
	// Source is what Template holds.
	Source string
	// Problem says why a part of the theme does not count; the built-in page is shown then.
	Problem string
}

// Limits of theme files, in bytes.
const (
	maxCSS      = 100 << 10
	maxTemplate = 1 << 20
	maxText     = 500 // characters of a replaced text
)

var (
	validColour = regexp.MustCompile(`^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$`)
	validKey    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`)
)

func (r *roomReader) theme(n *yaml.Node) {
	t := &r.room.Theme
	r.mapping(n, "theme", func(key, value *yaml.Node) {
		field := "theme." + key.Value
		r.lines[field] = value.Line
		switch key.Value {
		case "logo":
			r.text(field, value, 2000, &t.Logo)
			if u, err := url.Parse(t.Logo); err != nil || u.Scheme != "https" && !plainPath(t.Logo) {
				r.complain(field, "%s %q is neither a path nor an https URL", field, t.Logo)
			}
		case "accent":
			r.colour(field, value, &t.Accent)
		case "background":
			r.colour(field, value, &t.Background)
		case "css":
			r.text(field, value, 500, &t.CSSFile)
		case "template":
			r.text(field, value, 500, &t.Template)
		case "texts":
			r.texts(field, value)
		default:
			r.problem(key.Line, "unknown field %q in theme, want logo, accent, background, css, template and texts", key.Value)
		}
	})
}

func (r *roomReader) colour(field string, n *yaml.Node, to *string) {
	r.text(field, n, 7, to)
	if !validColour.MatchString(*to) {
		r.complain(field, "%s is %s, want a colour such as \"#0e6a55\", in quotes", field, written(n))
	}
}

func (r *roomReader) texts(field string, n *yaml.Node) {
	t := &r.room.Theme
	t.Texts = map[string]string{}
	r.mapping(n, field, func(key, value *yaml.Node) {
		r.lines[field] = value.Line
		var text string
		r.text(field, value, maxText, &text)
		if !validKey.MatchString(key.Value) {
			r.complain(field, "%s has the key %q, want one of the page's words such as turn_text", field, key.Value)
		}
		t.Texts[key.Value] = text
	})
}

// loadThemes reads the theme files of rooms, which are named from folder. A file that cannot
// be used is a problem of that room's theme, never of the rooms: on the evening of a sale a
// picture must not cost the line.
func loadThemes(folder string, all []Room) {
	for i := range all {
		t := &all[i].Theme
		var problems []string
		if t.CSSFile != "" {
			text, err := readTheme(folder, t.CSSFile, maxCSS)
			if err != nil {
				problems = append(problems, err.Error())
			} else {
				t.CSS = text
			}
		}
		if t.Template != "" {
			text, err := readTheme(folder, t.Template, maxTemplate)
			if err != nil {
				problems = append(problems, err.Error())
			} else {
				t.Source = string(text)
			}
		}
		t.Problem = strings.Join(problems, "; ")
	}
}

func readTheme(folder, name string, most int64) ([]byte, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, name)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("theme: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("theme: %s is no file of at most %d bytes", name, most)
	}
	return os.ReadFile(path)
}
