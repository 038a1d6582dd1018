package deliver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/leaky/deliver"
)

// newTLSReceiver speaks HTTP/1.1 and 2 and answers 200. change may set its TLS up.
func newTLSReceiver(t *testing.T, change func(*tls.Config)) (rec *receiver, ca []byte) {
	t.Helper()
	rec = unstarted(status(200))
	rec.EnableHTTP2 = true
	rec.TLS = &tls.Config{MinVersion: tls.VersionTLS10} // an old server
	if change != nil {
		change(rec.TLS)
	}
	rec.StartTLS()
	t.Cleanup(rec.Close)
	return rec, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rec.Certificate().Raw})
}

func TestDeliver_OwnCAAndHTTP2(t *testing.T) {
	t.Parallel()
	rec, ca := newTLSReceiver(t, nil)
	d := newDeliverer(t, func(c *deliver.Config) { c.CA = ca })
	for range 3 {
		want(t, send(d, rec.URL), deliver.Delivered, deliver.NoCause)
	}
	calls := rec.seen()
	for _, c := range calls {
		if c.Proto != "HTTP/2.0" || c.Remote != calls[0].Remote {
			t.Errorf("call came by %s from %s, want HTTP/2.0 over one connection", c.Proto, c.Remote)
		}
	}
}

// Every TLS failure may heal, and says what is wrong.
func TestDeliver_TLSFailures(t *testing.T) {
	t.Parallel()
	good, ca := newTLSReceiver(t, nil)
	old, oldCA := newTLSReceiver(t, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS11 })
	late, lateCA := newTLSReceiver(t, func(c *tls.Config) { c.Certificates = []tls.Certificate{expired(t)} })
	plain := newReceiver(t, status(200))
	silent := rawServer(t, untilClosed)
	closes := rawServer(t, func(net.Conn) {})
	for name, test := range map[string]struct {
		url   string
		ca    []byte
		cause deliver.Cause
		words string
	}{
		"not our CA":     {good.URL, nil, deliver.CauseTLS, "unknown authority"},
		"another's name": {strings.Replace(good.URL, "127.0.0.1", "localhost", 1), ca, deliver.CauseTLS, "localhost"},
		"expired":        {late.URL, lateCA, deliver.CauseTLS, "expired"},
		"too old":        {old.URL, oldCA, deliver.CauseTLS, "protocol version"},
		"no TLS there":   {strings.Replace(plain.URL, "http:", "https:", 1), nil, deliver.CauseTLS, "TLS handshake"},
		"TLS there":      {strings.Replace(good.URL, "https:", "http:", 1), nil, deliver.CauseStatus, "400"},
		"silent":         {"https://" + silent, nil, deliver.CauseTimeout, "agreeing on TLS"},
		"closes":         {"https://" + closes, nil, deliver.CauseTLS, "no trusted TLS connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeliverer(t, func(c *deliver.Config) { c.CA, c.Timeout = test.ca, 2*time.Second })
			want(t, send(d, test.url), deliver.Retry, test.cause, test.words)
		})
	}
}

// expired is a certificate of 127.0.0.1 that ended yesterday and signed itself.
func expired(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}
