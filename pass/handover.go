package pass

import "strings"

// HandoverParam is the query parameter in which a hand-over token travels, once.
const HandoverParam = "anteroom_pass"

// CutHandover takes the hand-over token out of a URL or URI and leaves every other byte of
// it as it is. Of several tokens the last counts.
func CutHandover(uri string) (clean, token string, found bool) {
	uri, fragment, hasFragment := strings.Cut(uri, "#")
	path, query, _ := strings.Cut(uri, "?")
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		if value, ok := strings.CutPrefix(part, HandoverParam+"="); ok {
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
