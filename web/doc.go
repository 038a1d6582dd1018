// Package web is Anteroom's HTTP front: the visitor API, the queue page, and the answers
// to what goes wrong. It holds no rule about who is let in; the line decides.
//
//	request ─▶ recover ─▶ observe ─▶ headers ─▶ limit body ─▶ same origin ─▶ handler
//	                                                              │
//	                 one table maps errors to statuses ◀──────────┘ error
//
// Handlers return errors; handle turns each into problem+json (or a page) once. A ticket
// is read from the Authorization header or the room's cookie; one that is forged, foreign
// or malformed counts as none.
package web
