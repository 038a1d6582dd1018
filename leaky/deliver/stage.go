package deliver

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// stage is how far an attempt came. Without it, "timed out" does not say whether the job may
// have arrived.
type stage int32

// In order. From sending on, the job may have arrived.
const (
	connecting stage = iota // resolving included
	handshaking
	sending
	waiting
)

// String completes a sentence that ends in "while".
func (s stage) String() string {
	return [...]string{"connecting", "agreeing on TLS", "sending", "waiting for the answer"}[s]
}

// progress is a stage that the transport moves on, also after the attempt ended.
type progress struct{ at atomic.Int32 }

func (p *progress) stage() stage { return stage(p.at.Load()) }

// follow is ctx, and the progress of the attempt that is made with it.
func follow(ctx context.Context) (context.Context, *progress) {
	p := &progress{}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// Only from connecting: the attempt may by now have got another's connection.
		TLSHandshakeStart: func() { p.at.CompareAndSwap(int32(connecting), int32(handshaking)) },
		GotConn:           func(httptrace.GotConnInfo) { p.at.Store(int32(sending)) },
		WroteRequest:      func(httptrace.WroteRequestInfo) { p.at.Store(int32(waiting)) },
	}), p
}
