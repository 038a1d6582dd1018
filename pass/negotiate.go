package pass

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// kind is what sort of answer a request can use.
type kind int

const (
	call kind = iota // a script or an app: an answer it can read
	page             // a page load: a redirect
	form             // a browser's form post: a redirect that makes it a GET
)

// kindOf decides by what browsers say of themselves. Sec-Fetch-Mode comes first: scripts
// cannot forge it, and Android's in-app browsers send X-Requested-With with page loads.
func kindOf(r *http.Request) kind {
	mode := strings.TrimSpace(r.Header.Get("Sec-Fetch-Mode"))
	browser := strings.EqualFold(mode, "navigate")
	if mode == "" {
		browser = r.Header.Get("X-Requested-With") == "" && prefersHTML(r.Header.Values("Accept"))
	}
	switch {
	case !browser:
		return call
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return page
	case r.Method == http.MethodPost && (mode != "" || formBody(r)):
		return form
	default:
		return call
	}
}

// Navigates reports whether r is a browser's page load, which can use a redirect or a page.
func Navigates(r *http.Request) bool { return kindOf(r) == page }

// Redirects reports whether r can use a redirect: a page load or a browser's form post.
func Redirects(r *http.Request) bool { return kindOf(r) != call }

// formBody reports whether the body has a type that an HTML form can send.
func formBody(r *http.Request) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return false
	}
	return media == "application/x-www-form-urlencoded" || media == "multipart/form-data" || media == "text/plain"
}

// prefersHTML reports whether an Accept header names HTML and ranks it above any JSON
// (RFC 9110, section 12.5.1); of equals the first wins. Wildcards name nothing.
func prefersHTML(accept []string) bool {
	html, json := 0.0, 0.0
	for entry := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, params, _ := strings.Cut(entry, ";")
		media = strings.ToLower(strings.TrimSpace(media))
		switch q := weight(params); {
		case media == "text/html" || media == "application/xhtml+xml":
			if q > json {
				html = max(html, q)
			}
		case strings.Contains(media, "json"):
			if q > html {
				json = max(json, q)
			}
		}
	}
	return html > json
}

// weight is the q of a media range: 1 unless it is named, 0 when it is no weight.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		q, err := strconv.ParseFloat(value, 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}

// Preflight reports whether r is a CORS preflight. Those bring no cookies, so a site whose
// API is called by pages of another origin uses it in Config.Exempt; the call itself
// still needs a pass.
func Preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" &&
		r.Header.Get("Access-Control-Request-Method") != ""
}
