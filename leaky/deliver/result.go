package deliver

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Outcome is what becomes of the job; a closed list, fit for a metric label.
type Outcome string

// What becomes of a job.
const (
	Delivered Outcome = "delivered" // answered with 2xx
	Retry     Outcome = "retry"     // failed; costs an attempt
	Pause     Outcome = "pause"     // 429 or 503: nothing goes there for RetryAfter; costs no attempt
	Disabled  Outcome = "disabled"  // 410: nothing goes there until an operator says so; costs no attempt
	Dead      Outcome = "dead"      // can never be delivered as it is; nothing was sent
	Cancelled Outcome = "cancelled" // the caller's context ended first; it may have arrived; costs no attempt
)

// CostsAttempt reports whether the attempt counts towards the queue's max_attempts.
func (o Outcome) CostsAttempt() bool { return o == Delivered || o == Retry || o == Dead }

// Cause is where a delivery failed; a closed list, fit for a metric label.
type Cause string

// Where a delivery failed.
const (
	NoCause         Cause = ""          // it did not
	CauseStatus     Cause = "status"    // an answer that is not 2xx
	CauseTimeout    Cause = "timeout"   // the deadline for everything passed
	CauseDNS        Cause = "dns"       // the name has no address
	CauseBlocked    Cause = "blocked"   // the address, name or port is not allowed
	CauseConnection Cause = "connect"   // no connection, or it was cut before the answer
	CauseTLS        Cause = "tls"       // no TLS, or a certificate that is not trusted
	CauseProtocol   Cause = "protocol"  // the answer is not HTTP, or its header is too large
	CauseInvalid    Cause = "invalid"   // the job itself: id, attempt, URL, content type, size
	CauseCancelled  Cause = "cancelled" // the caller's context ended
)

// Result is what became of one attempt.
type Result struct {
	Outcome Outcome
	Cause   Cause
	// Status is the HTTP status, 0 without an answer.
	Status int
	// Reason says in a sentence of at most 512 bytes why it was not delivered; empty
	// when it was. It may quote the receiver: escape it where it is shown.
	Reason string
	// RetryAfter is how long nothing may go to the destination, with outcome Pause only.
	// It is within 0 and Config.MaxPause, or Config.DefaultPause when the answer named none.
	RetryAfter time.Duration
	// Snippet is the beginning of the answer's body, at most MaxSnippet bytes of valid
	// UTF-8. The receiver wrote it: escape it where it is shown.
	Snippet string
	// Took is from the start to the end of the attempt, by Config.Now.
	Took time.Duration
}

// Bounds of what is kept of an answer, in bytes.
const (
	MaxSnippet = 4 << 10
	maxReason  = 512
)

// clip cuts s to at most limit bytes of valid UTF-8. Each run of invalid bytes becomes one
// question mark, which is never longer than what it stands for.
func clip(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit]
		for cut := 1; cut < utf8.UTFMax && cut <= len(s); cut++ { // a character in two halves
			if at := len(s) - cut; utf8.RuneStart(s[at]) {
				if !utf8.FullRuneInString(s[at:]) {
					s = s[:at]
				}
				break
			}
		}
	}
	return strings.ToValidUTF8(s, "?")
}
