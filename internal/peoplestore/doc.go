// Package peoplestore keeps accounts, API tokens, sessions, set-up links and the audit log of
// the control room in Redis.
//
// All keys share one slot. Each change of an account is one script that compares the version
// that was read, so that a one-time code, an invitation or the last administrator cannot be
// used up twice by two who come at once. A Redis that lost its memory has no accounts: the
// next start of a server prints a new set-up link.
package peoplestore
