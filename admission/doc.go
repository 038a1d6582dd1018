// Package admission decides how many may enter now and what a visitor may be told of
// the wait, as pure functions, and runs the worker that ticks the line.
//
// The line's admit step applies the same rules atomically in Redis; HowMany is their
// definition, and a test holds the script against it in random timelines.
package admission
