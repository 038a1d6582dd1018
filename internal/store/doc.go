// Package store opens the Redis that Anteroom is pointed at and checks that it is fit to
// hold a line.
package store
