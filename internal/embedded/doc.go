// Package embedded runs what Anteroom needs when it is pointed at nothing: a private
// redis-server child with an append-only file in the data folder, or, where no
// redis-server is on PATH, an in-process miniredis that is enough for a demo.
//
// A data folder has one user. Its lock is held by this process and, inherited, by the
// child, so that after a crash no second child starts on the same files before the first
// one has ended.
package embedded
