// Package httplimit puts limits before HTTP handlers. A refused request is answered 429 with
// problem+json, Retry-After in whole seconds rounded up, and the RateLimit fields of the
// IETF's draft; it reaches no handler. 429 is the caller's share that is used up; 503 is ours,
// when the store is away and the limit is closed then.
package httplimit
