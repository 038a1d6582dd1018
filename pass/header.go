package pass

import (
	"net/http"
	"strings"
)

// Header names that the middleware owns: a client's own copies never reach the handler.
const (
	HeaderVisitor = "Anteroom-Visitor"
	HeaderRoom    = "Anteroom-Room"
	HeaderPass    = "Anteroom-Pass"
)

// StripOwned removes every header that a server behind might read as one of ours. It also
// takes our names out of Connection, by which a client would tell a reverse proxy behind
// to drop the headers that we set (RFC 9110, section 7.6.1).
func StripOwned(h http.Header) {
	for name := range h {
		if owned(name) {
			delete(h, name)
		}
	}
	connection := h.Values("Connection")
	if len(connection) == 0 {
		return
	}
	var kept []string
	for option := range strings.SplitSeq(strings.Join(connection, ","), ",") {
		if option = strings.TrimSpace(option); option != "" && !owned(option) {
			kept = append(kept, option)
		}
	}
	if h.Del("Connection"); len(kept) > 0 {
		h.Set("Connection", strings.Join(kept, ", "))
	}
}

// owned reports whether name starts with Anteroom- or X-Anteroom- in any spelling that
// CGI and its heirs fold into one: case, and any other sign for the hyphen.
func owned(name string) bool {
	const prefix = "anteroom-"
	if fold(name, "x-") {
		name = name[len("x-"):]
	}
	return fold(name, prefix)
}

// fold reports whether name starts with the lower-case prefix, where a hyphen stands for
// any character but letters and digits.
func fold(name, prefix string) bool {
	if len(name) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case ('a' > c || c > 'z') && ('0' > c || c > '9'):
			c = '-'
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}
