// Package people is who may do what in the control room: accounts, roles, sign-in, API
// tokens, sessions and the audit log, as pure rules. It reads no clock, speaks no HTTP and
// keeps nothing; package internal/peoplestore keeps what it describes in Redis.
//
// Whoever acts is an Actor: a person who is signed in, or an API token. Passwords are kept
// as argon2id, everything else that lets somebody in as a SHA-256 of at least 80 random bits.
// The secret of an authenticator app has to be kept as it is (RFC 6238).
package people
