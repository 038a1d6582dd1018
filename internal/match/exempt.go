package match

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Exemption is what a room lets through without a pass.
type Exemption struct {
	Methods []string // in upper case
	Paths   []string // prefixes by whole segments, without regard to case
	// Assets lets files through by their extension: pictures, styles, scripts, fonts,
	// sound and film, where they are not opened as a page.
	Assets bool
}

// Fetch is what a browser says of the use that it has for an answer.
type Fetch struct{ Mode, Dest string } // Sec-Fetch-Mode, Sec-Fetch-Dest

// Paths that belong to crawlers, browsers and monitors; they cost no place in any room.
// Only .well-known has paths below it: a shop may well sell things under /health/.
var (
	common    = []string{"/favicon.ico", "/robots.txt", "/healthz", "/health", "/livez", "/readyz"}
	wellKnown = "/.well-known"
	touchIcon = "/apple-touch-icon"
	assets    = []string{
		"css", "js", "mjs", "map", "wasm", "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico",
		"woff", "woff2", "ttf", "otf", "eot", "mp4", "webm", "mp3",
	}
	// programs take what follows them in a path for an argument: /sale.php/x.css is the
	// page /sale.php.
	programs = []string{"php", "phtml", "php5", "php7", "asp", "aspx", "ashx", "jsp", "jspx", "do", "action", "cgi", "pl", "py", "cfm"}
)

// Check says what is wrong with an exemption, nil if nothing.
func (e Exemption) Check() error {
	for _, p := range e.Paths {
		if n, err := Normalise(p); err != nil || n == "" || !strings.HasPrefix(p, "/") {
			return fmt.Errorf("%w: exempt path %q exempts everything or is no path", ErrRule, p)
		}
	}
	if slices.Contains(e.Methods, "") {
		return errors.New("match: an exempt method is empty")
	}
	return nil
}

// Covers says why a request costs no place; false when it does. Here the narrow reading
// protects: a path that was written as no browser writes it may be another page to the
// site behind, so nothing but its method can exempt it.
func (e Exemption) Covers(method string, f Found, fetch Fetch) (string, bool) {
	if f.Odd {
		return e.byMethod(method)
	}
	if f.Dir {
		e.Assets = false // /a.css/ is a folder or a page
	}
	return e.Why(method, f.Path, fetch)
}

// Why is Covers for a path of which it is known that it was written plainly. It is
// normalised.
func (e Exemption) Why(method, path string, fetch Fetch) (string, bool) {
	if why, ok := e.byMethod(method); ok {
		return why, true
	}
	reading := method == http.MethodGet || method == http.MethodHead
	if reading {
		if why, ok := byCommon(path); ok {
			return why, true
		}
	}
	for _, p := range e.Paths {
		if e.below(path, p) {
			return "exempt path " + p, true
		}
	}
	if e.Assets && reading && fetch.Mode != "navigate" && fetch.Dest != "document" {
		return byExtension(path)
	}
	return "", false
}

func (e Exemption) byMethod(method string) (string, bool) {
	if slices.Contains(e.Methods, method) {
		return "method " + method, true
	}
	return "", false
}

func (Exemption) below(path, prefix string) bool {
	normal, err := Normalise(prefix)
	if err != nil || normal == "" {
		return false
	}
	n := len(normal)
	return len(path) >= n && strings.EqualFold(path[:n], normal) && (len(path) == n || path[n] == '/')
}

func byCommon(path string) (string, bool) {
	switch {
	case slices.Contains(common, path):
		return "common path " + path, true
	case strings.HasPrefix(path, wellKnown+"/"):
		return "common path " + wellKnown, true
	case strings.HasPrefix(path, touchIcon) && strings.HasSuffix(path, ".png") && strings.Count(path, "/") == 1:
		return "common path " + touchIcon, true
	}
	return "", false
}

func byExtension(path string) (string, bool) {
	last := strings.LastIndexByte(path, '/')
	for segment := range strings.SplitSeq(path[:max(last, 0)], "/") {
		if _, ok := extension(segment, programs); ok {
			return "", false
		}
	}
	if ext, ok := extension(path[last+1:], assets); ok {
		return "asset ." + ext, true
	}
	return "", false
}

// extension is the one of list that a file name has. A name that is an extension only has
// none.
func extension(name string, list []string) (string, bool) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 1 {
		return "", false
	}
	for _, ext := range list {
		if strings.EqualFold(name[dot+1:], ext) {
			return ext, true
		}
	}
	return "", false
}
