package rooms

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom/queue"
)

// Limits of the fields. Shorter times make a line that passes over people whose phone
// was slow; longer ones keep dead state for days.
const (
	minDuration  = time.Second
	minHeartbeat = 5 * time.Second
	maxDuration  = 24 * time.Hour
	maxTitle     = 80  // characters
	maxMessage   = 280 // characters
)

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// roomReader reads one room.
type roomReader struct {
	*fileReader
	room  Room
	start int             // line of the room
	lines map[string]int  // line of each field that is given
	wrong map[string]bool // fields with a problem of their own
}

func (f *fileReader) room(n *yaml.Node) Room {
	r := &roomReader{fileReader: f, start: n.Line, lines: map[string]int{}, wrong: map[string]bool{}}
	r.room.Enabled, r.room.Exempt.Assets, r.room.Resume = true, true, true
	r.mapping(n, "a room", func(key, value *yaml.Node) {
		if !isNull(value) {
			r.lines[key.Value] = value.Line
			r.field(key, value)
		}
	})
	if n.Kind == yaml.MappingNode {
		r.room.setDefaults()
		r.together()
	}
	return r.room
}

// field reads one field by itself. Its cases are the contract of the file.
func (r *roomReader) field(key, n *yaml.Node) { //nolint:funlen // a table of the fields
	switch name := key.Value; name {
	case "name":
		r.text(name, n, 63, &r.room.Name)
	case "title":
		r.text(name, n, maxTitle, &r.room.Title)
	case "capacity":
		r.whole(name, n, &r.room.Capacity)
	case "rate":
		r.rate(name, n)
	case "burst":
		r.whole(name, n, &r.room.Burst)
	case "session":
		r.duration(name, n, minDuration, &r.room.Session)
	case "claim_window":
		r.duration(name, n, minDuration, &r.room.ClaimWindow)
	case "heartbeat":
		r.duration(name, n, minHeartbeat, &r.room.Heartbeat)
	case "keep_place":
		r.duration(name, n, minDuration, &r.room.KeepPlace)
	case "targets":
		r.sequence(n, name, r.target)
	case "default_target":
		r.text(name, n, queue.MaxTarget, &r.room.Default)
	case "on_store_error":
		r.text(name, n, 16, (*string)(&r.room.OnStore))
	case "message":
		r.text(name, n, maxMessage, &r.room.Message)
	case "match":
		r.sequence(n, name, r.match)
	case "state":
		r.text(name, n, 16, (*string)(&r.room.State))
	case "opens":
		r.moment(name, n, &r.room.Opens)
	case "theme":
		r.theme(n)
	case "resume":
		r.flag(name, n, &r.room.Resume)
	case "proof":
		r.whole(name, n, &r.room.Proof)
	case "max_waiting":
		r.whole(name, n, &r.room.MaxWaiting)
	case "enabled":
		r.flag(name, n, &r.room.Enabled)
	case "exempt":
		r.exempt(n)
	case "renew":
		r.text(name, n, 16, (*string)(&r.room.Renew))
	case "max_session":
		r.duration(name, n, minDuration, &r.room.MaxSession)
	case "origin":
		r.text(name, n, queue.MaxTarget, &r.room.Origin)
	case "queue_status":
		r.whole(name, n, &r.room.QueueStatus)
	default:
		r.problem(key.Line, "unknown field %q", name)
	}
}

// complain reports a problem of a field, on its line or, where it is not given, the room's.
func (r *roomReader) complain(field, format string, args ...any) {
	r.wrong[field] = true
	line := r.lines[field]
	if line == 0 {
		line = r.start
	}
	r.problem(line, "%s", r.prefix()+fmt.Sprintf(format, args...))
}

// prefix names the room. Its name may come after the field that is wrong.
func (r *roomReader) prefix() string {
	if r.room.Name == "" {
		return ""
	}
	return fmt.Sprintf("room %q: ", r.room.Name)
}

// scalar reports what is no single value.
func (r *roomReader) scalar(field string, n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		r.complain(field, "%s must be a single value", field)
		return false
	}
	return true
}

func (r *roomReader) text(field string, n *yaml.Node, limit int, to *string) {
	if !r.scalar(field, n) {
		return
	}
	*to = n.Value
	if utf8.RuneCountInString(n.Value) > limit {
		r.complain(field, "%s is longer than %d characters", field, limit)
	}
	for _, c := range n.Value {
		if unicode.IsControl(c) && c != '\n' {
			r.complain(field, "%s has the control character %U", field, c)
			return
		}
	}
}

// written is a value as the file has it, with its quotes.
func written(n *yaml.Node) string {
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return strconv.Quote(n.Value)
	}
	return n.Value
}

func (r *roomReader) whole(field string, n *yaml.Node, to *int) {
	if !r.scalar(field, n) {
		return
	}
	var v int
	if err := n.Decode(&v); err != nil || v < 1 || v > queue.MaxCapacity {
		r.complain(field, "%s is %s, want a whole number from 1 to %d", field, written(n), queue.MaxCapacity)
		return
	}
	*to = v
}

func (r *roomReader) moment(field string, n *yaml.Node, to *time.Time) {
	if !r.scalar(field, n) {
		return
	}
	at, err := time.Parse(time.RFC3339, n.Value)
	if err != nil {
		r.complain(field, "%s is %s, want a time with its zone, such as 2026-12-24T10:00:00+09:00", field, written(n))
		return
	}
	*to = at
}

func (r *roomReader) flag(field string, n *yaml.Node, to *bool) {
	if !r.scalar(field, n) {
		return
	}
	if err := n.Decode(to); err != nil || n.Tag != "!!bool" {
		r.complain(field, "%s is %s, want true or false", field, written(n))
	}
}

func (r *roomReader) duration(field string, n *yaml.Node, least time.Duration, to *time.Duration) {
	if !r.scalar(field, n) {
		return
	}
	d, err := time.ParseDuration(n.Value)
	if _, plain := strconv.ParseFloat(n.Value, 64); plain == nil {
		r.complain(field, "%s is %s, want a unit too, such as 30s or 10m", field, n.Value)
		return
	}
	if err != nil || d < least || d > maxDuration {
		r.complain(field, "%s is %s, want a time from %v to 24h, such as 30s or 10m", field, written(n), least)
		return
	}
	*to = d
}

func (r *roomReader) rate(field string, n *yaml.Node) {
	if !r.scalar(field, n) {
		return
	}
	rate, err := ParseRate(n.Value)
	if err != nil {
		r.complain(field, "%v", err)
		return
	}
	r.room.Rate = rate
}
