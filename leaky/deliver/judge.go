package deliver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// judge is the outcome that the status of an answer stands for. now is when it came.
func (d *Deliverer) judge(answer *http.Response, now time.Time) Result {
	result := Result{Outcome: Retry, Cause: CauseStatus, Status: answer.StatusCode}
	said := strings.TrimSpace(fmt.Sprintf("answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode)))
	switch code := answer.StatusCode; {
	case code >= 200 && code <= 299:
		return Result{Outcome: Delivered, Status: code}
	case code == http.StatusGone:
		result.Outcome = Disabled
		result.Reason = said + ": the destination wants no more deliveries"
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		wait, theirs := pauseFor(answer.Header, now, d.cfg.DefaultPause, d.cfg.MaxPause)
		result.Outcome, result.RetryAfter = Pause, wait
		result.Reason = fmt.Sprintf("%s: paused for %v", said, wait)
		if !theirs {
			result.Reason += ", since it named no time"
		}
	case code >= 300 && code <= 399:
		result.Reason = fmt.Sprintf("%s to %q: redirects are not followed", said, clip(answer.Header.Get("Location"), 256))
	default:
		result.Reason = said
	}
	return result
}

// refused is the result of a job that was not sent because of err.
func refused(err error) Result {
	result := Result{Outcome: Dead, Cause: CauseInvalid, Reason: err.Error()}
	if errors.Is(err, ErrBlocked) {
		result.Cause = CauseBlocked
	}
	return result
}

// failed is the result of an attempt that ended in err without an answer, when it had come
// to the stage at. cancelled says that the caller gave up.
func failed(err error, cancelled bool, at stage, timeout time.Duration) Result {
	if cancelled {
		return Result{Outcome: Cancelled, Cause: CauseCancelled, Reason: "stopped by us while " + at.String()}
	}
	cause := causeOf(err, at)
	reason := fmt.Sprintf("%s: %v", words[cause], err)
	switch cause {
	case CauseTimeout:
		reason = fmt.Sprintf("no answer within %v, while %s", timeout, at)
	case CauseBlocked:
		var op *net.OpError
		if errors.As(err, &op) { // which says "dial tcp" and the address once more
			err = op.Err
		}
		reason = err.Error()
	case CauseConnection:
		reason += ", while " + at.String()
	}
	return Result{Outcome: Retry, Cause: cause, Reason: reason}
}

// words open the reason of a failure.
var words = map[Cause]string{
	CauseDNS:        "the name was not resolved",
	CauseTLS:        "no trusted TLS connection",
	CauseConnection: "the connection failed",
	CauseProtocol:   "the answer was not understood",
}

// causeOf sorts an error of the transport by its type and by how far the attempt came.
func causeOf(err error, at stage) Cause {
	var (
		dns  *net.DNSError
		cert *tls.CertificateVerificationError
		slow net.Error
	)
	switch {
	case errors.Is(err, ErrBlocked):
		return CauseBlocked
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return CauseTimeout
	case errors.As(err, &dns):
		return CauseDNS
	case errors.As(err, &cert), errors.Is(err, http.ErrSchemeMismatch), at == handshaking:
		return CauseTLS
	case at == waiting && !wasCut(err):
		return CauseProtocol
	default:
		return CauseConnection
	}
}

// wasCut reports whether the connection ended, other than by what was in the answer. The
// texts are those of net/http errors that have no type.
func wasCut(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "server closed idle connection") || strings.Contains(err.Error(), "connection lost")
}
