package pass

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// HandoverParam is the query parameter in which a hand-over token travels, once.
const HandoverParam = "anteroom_pass"

// CutHandover takes the hand-over token out of a URL or URI and leaves every other byte of
// it as it is. Of several tokens the last counts.
func CutHandover(uri string) (clean, token string, found bool) {
	if !strings.Contains(uri, "?") {
		return uri, "", false
	}
	uri, fragment, hasFragment := strings.Cut(uri, "#")
	path, query, _ := strings.Cut(uri, "?")
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		if value, ok := handoverValue(part); ok {
			token, found = value, true
			continue
		}
		kept = append(kept, part)
	}
	if found {
		if uri = path; len(kept) > 0 {
			uri += "?" + strings.Join(kept, "&")
		}
	}
	if hasFragment {
		uri += "#" + fragment
	}
	return uri, token, found
}

// handoverValue reads one part of a query. Servers on the way may have escaped characters
// that need no escape.
func handoverValue(part string) (string, bool) {
	name, value, ok := strings.Cut(part, "=")
	if !ok {
		return "", false
	}
	if plain, err := url.QueryUnescape(name); err != nil || plain != HandoverParam {
		return "", false
	}
	if plain, err := url.QueryUnescape(value); err == nil {
		value = plain
	}
	return value, true
}

// AddHandover puts a hand-over token into the address of a page, as its last parameter.
func AddHandover(address, token string) string {
	address, _, _ = CutHandover(address)
	address, fragment, hasFragment := strings.Cut(address, "#")
	sign := "?"
	if strings.Contains(address, "?") {
		sign = "&"
	}
	address += sign + HandoverParam + "=" + token
	if hasFragment {
		address += "#" + fragment
	}
	return address
}

// cutRequest takes hand-over tokens out of everything in r that a handler may read, and
// returns that of its address. r and its header are the caller's own; the rest is copied.
func cutRequest(r *http.Request) (token string, found bool) {
	for i, ref := range r.Header["Referer"] {
		r.Header["Referer"][i], _, _ = CutHandover(ref)
	}
	r.RequestURI, token, found = CutHandover(r.RequestURI)
	query, routed, inURL := CutHandover("?" + r.URL.RawQuery) // a router may have changed it
	if !inURL {
		return token, found
	}
	if !found {
		token = routed
	}
	u := *r.URL
	u.RawQuery = strings.TrimPrefix(query, "?")
	u.ForceQuery = query == "?"
	r.URL = &u
	if r.Form != nil { // somebody before us parsed it
		r.Form = maps.Clone(r.Form)
		r.Form.Del(HandoverParam)
	}
	return token, true
}
