// Package page renders what a visitor sees while in the line: templ components, one
// stylesheet and one script, all served from here, with nothing of a third party. It
// knows neither rooms nor the line: whoever serves it fills in a View.
//
// The page works in three ways, each a fall-back of the one before:
//
//	script runs        queue.js joins, polls when it is told to, and enters by itself
//	script is off      a form joins, a refresh inside noscript looks again, a button enters
//	script is blocked  as above, with the link "Check now" in place of the refresh
//
// A GET takes no place in any of them. All words are in words/<language>.json; those that
// the script says travel in the page as a JSON block, which runs nothing and so needs no
// exception in the Content-Security-Policy.
package page
