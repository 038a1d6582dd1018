package match

import (
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
var (
	common      = []string{"/favicon.ico", "/robots.txt", "/.well-known", "/healthz", "/health", "/livez", "/readyz"}
	touchIcon   = "/apple-touch-icon"
	assetSuffix = []string{
		".css", ".js", ".mjs", ".map", ".wasm", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico",
		".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp4", ".webm", ".mp3",
	}
)

// Why says why a request costs no place; false when it does. path is normalised, so that
// no matrix parameter or escape hides what the site would serve.
func (e Exemption) Why(method, path string, fetch Fetch) (string, bool) {
	if slices.Contains(e.Methods, method) {
		return "method " + method, true
	}
	path = fold(path)
	for _, p := range common {
		if under(path, p) {
			return "common path " + p, true
		}
	}
	if strings.HasPrefix(path, touchIcon) && strings.HasSuffix(path, ".png") && strings.Count(path, "/") == 1 {
		return "common path " + touchIcon, true
	}
	for _, p := range e.Paths {
		if normal, err := Normalise(p); err == nil && under(path, fold(normal)) {
			return "exempt path " + p, true
		}
	}
	if e.Assets && (method == http.MethodGet || method == http.MethodHead) && fetch.Mode != "navigate" && fetch.Dest != "document" {
		last := path[strings.LastIndexByte(path, '/')+1:]
		for _, suffix := range assetSuffix {
			if strings.HasSuffix(last, suffix) {
				return "asset " + suffix, true
			}
		}
	}
	return "", false
}

func under(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '/')
}
