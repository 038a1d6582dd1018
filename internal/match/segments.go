package match

import (
	"fmt"
	"strings"
)

// resolve walks the segments of a decoded path and leaves the result in r.
func (r *reading) resolve(path string) error {
	if strings.Contains(path, `\`) {
		r.odd, r.hard = true, true
		path = strings.ReplaceAll(path, `\`, "/")
	}
	all := strings.Split(path[1:], "/")
	kept := make([]string, 0, len(all))
	for i, raw := range all {
		segment, err := r.trim(raw)
		if err != nil {
			return err
		}
		last := i == len(all)-1
		switch segment {
		case "":
			r.dir = last
			if !last {
				r.odd, r.hard = true, true
			}
		case ".":
			r.odd, r.dir = true, last
		case "..":
			if !r.dots {
				r.other, r.differs = joined(kept), true // a server that keeps .. is below what was before it
			}
			r.odd, r.dots, r.dir = true, true, last
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, segment)
		}
	}
	r.path = joined(kept)
	if all[0] == "" && len(all) > 1 && len(kept) > 0 {
		// Servers that resolve the target as a reference (new URL(req.url, base)) take
		// //a/sale for the page /sale of a host a.
		r.other, r.differs = joined(kept[1:]), true
	}
	return nil
}

// trim takes from a segment what some servers ignore at its end.
func (r *reading) trim(raw string) (string, error) {
	segment := raw
	if i := strings.IndexAny(raw, ";?#"); i >= 0 {
		segment = raw[:i]
		r.odd, r.hard = true, true
	}
	if segment == "." || segment == ".." {
		return segment, nil
	}
	short := strings.TrimRight(segment, ". ")
	if short == segment {
		return segment, nil
	}
	r.odd, r.hard = true, true
	if short == "" && strings.Count(segment, ".") > 1 {
		return "", fmt.Errorf("%w: some servers take the segment %q for dots", ErrPath, segment)
	}
	return short, nil
}

// joined is the path of segments. A percent sign is encoded again, so that the result
// reads as it was meant.
func joined(segments []string) string {
	if len(segments) == 0 {
		return ""
	}
	return "/" + strings.ReplaceAll(strings.Join(segments, "/"), "%", "%25")
}
