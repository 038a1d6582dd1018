// Package redistest gives tests a Redis: a private redis-server child of the test
// process, or miniredis, or both in turn. It never touches a Redis that it did not start.
package redistest
