// Package match finds the room that protects an address: by host, then by a prefix of the
// path in whole segments. It is pure.
//
// A site's router may take several spellings of a path for one page: another case, doubled
// slashes, dot segments, escapes, matrix parameters. Rules are held against a normalised
// path that is at least as wide as that, so that no spelling leads past a room. Only what
// is matched is normalised; what is forwarded stays as the visitor sent it. So where common
// servers would disagree about which page a path is, Find refuses it (ErrPath): a visitor
// must not choose the reading.
//
// For exemptions the narrow reading protects: a path that was written as no browser writes
// it (Found.Odd) is exempt from nothing.
package match
