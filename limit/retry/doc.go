// Package retry is an http.RoundTripper that behaves towards services that limit their
// callers. It tries again what may be tried again, after a random wait that grows, and never
// sooner than the service's Retry-After says.
//
//	breaker open? ── yes ──▶ ErrOpen, nothing is sent
//	     │ no
//	     ▼
//	permit (Wait) ──▶ send ──▶ 429, 5xx, broken connection ──▶ may it be sent again?
//	                    │            │ yes: wait, and from the top
//	                    ▼            ▼ no
//	                 the answer   the answer or the error
//
// A 429 is neither a success nor a failure of the service: it works, and wants less.
package retry
