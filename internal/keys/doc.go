// Package keys keeps the two secrets of an installation in its data folder: the key that
// signs tickets and the one that signs passes. They are made at the first start and read
// afterwards, so that a restart keeps everybody's place.
//
// To replace a key while people wait, rename its file (ticket.key to ticket.key.old,
// signing.pem to signing.pem.old or signing-2026.pem) and start again: a fresh key is
// made, and what the old one signed is still accepted until its file is removed. Several
// servers share one line only with the same keys: copy the files to each of them.
package keys
