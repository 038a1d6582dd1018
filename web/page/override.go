package page

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"io"

	"github.com/a-h/templ"
)

// Override is a page that an operator wrote, in the language of Go's html/template. It draws
// the queue page of its room in all its states; docs/theming.md lists what it may use.
type Override struct{ parsed *template.Template }

// OverrideData is what a template may use. Texts are in the visitor's language and escaped by
// the template.
type OverrideData struct {
	Lang, Dir string // such as ko, and ltr or rtl
	Title     string // of the room
	State     string // new, waiting, admitted, active, away, expired, left, done, moved, loop, paused, closed, not_open, full, trouble, cookies
	Heading   string // what the state is called; empty in line and at one's turn
	Text      string // a sentence about it
	Position  string // in line, with its digits grouped; else empty
	Ahead     string // a sentence about who is ahead
	Wait      string // the estimated wait in words
	Message   string // the operator's
	Notice    string // what has just happened
	Problem   string // what does not work now
	Target    string // where the visitor wants to go
	// Head belongs into <head>: character set, title, stylesheets, the refresh for browsers
	// without script.
	Head template.HTML
	// Queue is the built-in page's middle, which the script keeps up to date. It has the forms
	// that join, enter and leave; a template without it has to bring its own.
	Queue template.HTML
	// Script keeps Queue up to date; it belongs behind it.
	Script template.HTML
	// Language is the form by which visitors change the language.
	Language template.HTML
}

// NewOverride parses a template and draws every state with invented data. The error says
// which state it cannot draw.
func NewOverride(source string) (*Override, error) {
	parsed, err := template.New("page").Option("missingkey=error").Parse(source)
	if err != nil {
		return nil, fmt.Errorf("page: template: %w", err)
	}
	o := &Override{parsed}
	for _, state := range PreviewStates() {
		v, _ := Preview(View{Room: "room", Title: "Title"}, state)
		if err := o.write(context.Background(), io.Discard, v); err != nil {
			return nil, fmt.Errorf("page: template, in state %q: %w", state, err)
		}
	}
	return o, nil
}

// Page is the queue page as the operator wrote it. It writes nothing when it fails.
func (o *Override) Page(v View) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error { return o.write(ctx, w, v) })
}

func (o *Override) write(ctx context.Context, w io.Writer, v View) error {
	data, err := v.data(ctx)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := o.parsed.Execute(&out, data); err != nil {
		return err
	}
	_, err = out.WriteTo(w)
	return err
}

func (v View) data(ctx context.Context) (OverrideData, error) {
	d := OverrideData{
		Lang: v.speaks().Tag, Dir: direction(v), Title: v.Title, State: v.state(), Message: v.Message,
		Notice: v.told(v.Notice), Problem: v.told(v.Problem), Target: v.Target,
	}
	switch {
	case v.waiting(d.State):
		d.Ahead, d.Wait = v.ahead(), v.wait()
		if v.Standing.Position > 0 {
			d.Position = v.position()
		}
	case v.turn(d.State):
		d.Heading, d.Text = v.word("turn"), v.word("turn_ask")
	default:
		d.Heading, d.Text = v.word(d.State+"_title"), v.sayText()
	}
	for _, part := range []struct {
		to   *template.HTML
		from templ.Component
	}{
		{&d.Head, head(v, v.documentTitle(), v.refreshS())}, {&d.Queue, queue(v)}, {&d.Script, scripts(v)}, {&d.Language, languageSwitch(v)},
	} {
		html, err := templ.ToGoHTML(ctx, part.from)
		if err != nil {
			return d, err
		}
		*part.to = html
	}
	return d, nil
}
