// Package gate decides whether a request may reach a protected site: by the room that its
// host and path belong to, by the pass that it shows, and by what the line says of that
// pass. It knows nothing of how an answer is written; package web does.
//
//	request ──▶ match: which room? ──▶ exempt, off, none ──▶ through
//	                    │
//	                    ▼
//	            pass shown? ──▶ sessions: known here and checked within a second ──▶ through
//	                    │             │ else one grouped touch of the line
//	                    ▼             ▼
//	                 queue         ended, released, reset ──▶ queue
//
// A valid pass that was checked within the last second costs no call to Redis. Passes that
// were shown are touched in the background, many in a call, so that a release or a reset is
// seen within a second and activity extends a sliding session.
package gate
