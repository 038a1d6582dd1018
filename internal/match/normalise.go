package match

import (
	"errors"
	"strings"
)

// ErrPath means that a path has a malformed escape or a control character, or is escaped
// over and over: no honest client sends it.
var ErrPath = errors.New("match: malformed path")

// maxDecode bounds how often a path is unescaped.
const maxDecode = 4

// Normalise is what a lenient router would make of the path of a request target: without
// query, unescaped until nothing changes, backslashes as slashes, no matrix parameters (nor
// what follows an escaped ? or #), no empty segments, dot segments resolved, no dots or spaces at the end of a segment, no
// slash at the end. The absolute form of a target (http://host/path) gives its path.
func Normalise(target string) (string, error) {
	path := pathOf(target)
	if plain(path) {
		return strings.TrimSuffix(path, "/"), nil
	}
	path, err := decode(path)
	if err != nil {
		return "", err
	}
	var kept []string
	for segment := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		if i := strings.IndexAny(segment, ";?#"); i >= 0 { // ? and # were escaped
			segment = segment[:i]
		}
		switch trimmed := strings.TrimRight(segment, ". "); {
		case segment == "..":
			kept = kept[:max(0, len(kept)-1)]
		case trimmed != "":
			kept = append(kept, trimmed)
		}
	}
	if len(kept) == 0 {
		return "", nil
	}
	return "/" + strings.Join(kept, "/"), nil
}

// pathOf cuts scheme, host, query and fragment off.
func pathOf(target string) string {
	if i := strings.IndexAny(target, "?#"); i >= 0 {
		target = target[:i]
	}
	if !strings.HasPrefix(target, "/") {
		if _, rest, ok := strings.Cut(target, "://"); ok {
			if i := strings.IndexByte(rest, '/'); i >= 0 {
				return rest[i:]
			}
			return "/"
		}
	}
	return target
}

// plain reports whether a path is in its normal form, a slash at the end aside.
func plain(path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c < 0x20 || c == 0x7f || c == '%' || c == '\\' || c == ';':
			return false
		case c == '/' && i > 0 && (path[i-1] == '/' || path[i-1] == '.' || path[i-1] == ' '):
			return false
		case c == '.' && path[i-1] == '/': // a dot segment, or a file that begins with a dot
			return false
		}
	}
	last := path[len(path)-1]
	return last != '.' && last != ' '
}

// decode undoes percent escapes until nothing changes.
func decode(path string) (string, error) {
	for range maxDecode {
		next, err := unescape(path)
		if err != nil {
			return "", err
		}
		if next == path {
			return path, nil
		}
		path = next
	}
	return "", ErrPath
}

func unescape(s string) (string, error) {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return "", ErrPath
			}
			c = hex(s[i+1])<<4 | hex(s[i+2])
			i += 2
		}
		if c < 0x20 || c == 0x7f {
			return "", ErrPath
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func hex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}
