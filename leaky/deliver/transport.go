package deliver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// maxHeader bounds the header of an answer, in bytes.
const maxHeader = 64 << 10

// newTransport is a client's lower half, used without the upper one: an http.Client would
// follow redirects and keep cookies. It has no Proxy, so the environment's is not used.
func newTransport(cfg Config, hooks hooks) (*http.Transport, error) {
	roots, err := rootCAs(cfg.CA)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{
		// A dial outlives the attempt that began it, for another to use; this ends it.
		Timeout:        cfg.Timeout,
		Resolver:       hooks.resolver,
		ControlContext: control(cfg.AllowPrivate, hooks.dialled),
	}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    cfg.Timeout,
		ForceAttemptHTTP2:      true, // which a DialContext of one's own turns off
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           cfg.Concurrency,
		MaxIdleConnsPerHost:    cfg.Concurrency,
		IdleConnTimeout:        idleTimeout,
		DisableCompression:     true, // a small answer must not unpack to a large one
		// One HTTP/2 connection carries every attempt: ask early whether it still lives.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
	}, nil
}

// idleTimeout is shorter than that of common servers (nginx 75 s, Go 120 s): a connection
// that the server is just closing costs an attempt, because nobody knows what arrived.
const idleTimeout = 30 * time.Second

// control refuses addresses after resolution and just before connect(2): there is no later
// look-up that could answer differently.
func control(allowPrivate bool, dialled func(address string) error) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || (network != "tcp4" && network != "tcp6") {
			return fmt.Errorf("%w: %s %s is no TCP address", ErrBlocked, network, address)
		}
		if err := CheckAddr(to.Addr(), allowPrivate); err != nil {
			return err
		}
		if err := checkPort(to.Port(), allowPrivate); err != nil {
			return err
		}
		return dialled(address)
	}
}

// rootCAs is the pool of the certificates in pemBytes, or nil, the system's, if empty.
func rootCAs(pemBytes []byte) (*x509.CertPool, error) {
	if len(pemBytes) == 0 {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pemBytes) {
		return nil, errors.New("ca has no certificate in PEM form")
	}
	return pool, nil
}
