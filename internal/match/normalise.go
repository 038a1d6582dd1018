package match

import (
	"errors"
	"fmt"
	"strings"
)

// ErrPath means that a path is not sound, or that servers would not agree what it is. The
// answer to such a request is 400.
var ErrPath = errors.New("match: the path of the request is not sound")

// maxRounds bounds how often a path may be encoded in itself. Proxies in a row decode once
// each; more than this is an attack on one of them.
const maxRounds = 4

// Normalise is what a generous router would make of a request target: at least as wide as
// common shop software, so that a rule for a page holds for all its spellings.
//
//   - An absolute target (http://host/path) is its path; the query goes.
//   - Escapes are decoded until nothing changes. %2f and \ are slashes.
//   - In each segment what follows ; (matrix parameters) or an encoded ? or # goes, and
//     so do dots and spaces at its end.
//   - Empty segments and . go, .. takes the segment before it, never above the root.
//   - A slash at the end goes. A percent sign that is none of an escape is %25.
//
// Case stays. The error is ErrPath: control bytes, a broken or overlong escape, more than
// four rounds of escapes, a bare #, what does not begin with a slash, and segments of
// dots and spaces that Windows takes for .. . Find refuses more: see there.
// The root is "". A path that needs no work costs no memory. Normalise of a normalised path changes nothing.
func Normalise(rawPath string) (string, error) {
	r, err := read(rawPath)
	return r.path, err
}

// reading is a path as we read it, and what was remarkable about it.
type reading struct {
	path    string
	other   string // another page that some servers would see, normalised, if differs
	host    string // of an absolute target
	differs bool
	odd     bool // as no browser writes it
	hard    bool // servers may split it into other segments than we do
	dots    bool // it has a ..
	dir     bool // it ends in a slash
}

func read(raw string) (reading, error) {
	var r reading
	path, err := r.target(raw)
	if err != nil {
		return reading{}, err
	}
	path, _, _ = strings.Cut(path, "?")
	if plain(path) {
		r.path = strings.TrimSuffix(path, "/")
		r.dir = len(r.path) < len(path)
		return r, nil
	}
	if strings.Contains(path, "#") {
		return reading{}, fmt.Errorf("%w: it has a #", ErrPath)
	}
	if path, err = r.decode(path); err != nil {
		return reading{}, err
	}
	if err := r.resolve(path); err != nil {
		return reading{}, err
	}
	return r, nil
}

// plain reports whether a path without its query is normal but for a slash at its end.
func plain(path string) bool {
	for i := range len(path) {
		c := path[i]
		if c <= ' ' || c >= 0x7f || c == '%' || c == ';' || c == '\\' || c == '#' {
			return false
		}
		if c == '/' && i > 0 && (path[i-1] == '/' || path[i-1] == '.') {
			return false
		}
	}
	return path[len(path)-1] != '.'
}

// target is the path of a request target with its query.
func (r *reading) target(raw string) (string, error) {
	if strings.HasPrefix(raw, "/") {
		return raw, nil
	}
	if raw == "" {
		return "/", nil // the root in its normal form
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return "", fmt.Errorf("%w: it does not begin with a slash", ErrPath)
	}
	end := strings.IndexAny(rest, `/?#\`)
	if end < 0 {
		end = len(rest)
	}
	if r.host = rest[:end]; r.host == "" {
		return "", fmt.Errorf("%w: it names no host", ErrPath)
	}
	if rest = rest[end:]; strings.HasPrefix(rest, "/") {
		return rest, nil
	}
	return "/" + rest, nil
}

// sameHost refuses an absolute target for another host than the request's: servers
// differ in which of the two they follow.
func (r *reading) sameHost(h hostPort) error {
	if r.host == "" {
		return nil
	}
	if in, err := readHost(r.host); err != nil || in.name != h.name {
		return fmt.Errorf("%w: it names another host than the request", ErrPath)
	}
	return nil
}

// decode takes the escapes out of a path, round by round.
func (r *reading) decode(path string) (string, error) {
	if hasControl(path) {
		return "", fmt.Errorf("%w: it has a control byte", ErrPath)
	}
	for round := range maxRounds + 1 {
		next, err := r.decodeOnce(path, round == 0)
		if err != nil {
			return "", err
		}
		if next == path {
			break
		}
		if round == maxRounds {
			return "", fmt.Errorf("%w: it is encoded more than %d times over", ErrPath, maxRounds)
		}
		if hasControl(next) {
			return "", fmt.Errorf("%w: it hides a control byte", ErrPath)
		}
		if round > 0 {
			r.odd, r.hard = true, true
		}
		path = next
	}
	if overlong(path) {
		return "", fmt.Errorf("%w: it has an overlong UTF-8 form", ErrPath)
	}
	return path, nil
}

// decodeOnce decodes each escape. In the first round a percent sign must begin one; later
// it may be a letter of the page's name (/50%25-off).
func (r *reading) decodeOnce(path string, strict bool) (string, error) {
	if !strings.Contains(path, "%") {
		return path, nil
	}
	var b strings.Builder
	b.Grow(len(path))
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			b.WriteByte(path[i])
			continue
		}
		c, ok := escaped(path[i+1:])
		if !ok {
			if strict {
				return "", fmt.Errorf("%w: a %% begins no escape", ErrPath)
			}
			b.WriteByte('%')
			continue
		}
		r.note(c)
		b.WriteByte(c)
		i += 2
	}
	return b.String(), nil
}

// note remembers an escape that browsers do not write for c or that changes how a path
// is read.
func (r *reading) note(c byte) {
	switch {
	case strings.IndexByte(`/\;?#`, c) >= 0:
		r.odd, r.hard = true, true
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~%", c) >= 0:
		r.odd = true
	}
}

// escaped is the byte of the two hexadecimal digits that s begins with.
func escaped(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	hi, lo := hex(s[0]), hex(s[1])
	return byte(hi<<4 | lo), hi >= 0 && lo >= 0
}

func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// overlong finds UTF-8 that spells a character with more bytes than it needs. Old decoders
// take C0 AF for a slash. Bytes that are no UTF-8 otherwise stay: shops older than UTF-8
// have them in their names.
func overlong(s string) bool {
	for i := range len(s) - 1 {
		next := s[i+1]
		switch s[i] {
		case 0xC0, 0xC1:
			if next >= 0x80 && next <= 0xBF {
				return true
			}
		case 0xE0:
			if next >= 0x80 && next <= 0x9F {
				return true
			}
		case 0xF0:
			if next >= 0x80 && next <= 0x8F {
				return true
			}
		}
	}
	return false
}
