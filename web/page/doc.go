// Package page renders what a visitor sees while in the line: templ components, one
// stylesheet and one script, all served from here, with nothing of a third party.
//
// The page shows where the visitor stands without script too: then a form joins, a
// refresh inside noscript looks again, and a button enters. With script, queue.js joins,
// polls when it is told to, and enters by itself.
package page
