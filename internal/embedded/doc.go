// Package embedded runs what Anteroom needs when it is pointed at nothing: a private
// redis-server child with an append-only file in the data folder, or, where no
// redis-server is on PATH, an in-process miniredis that is enough for a demo.
package embedded
