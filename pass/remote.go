package pass

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	keysFresh   = 5 * time.Minute  // after this the set is fetched anew
	keysRetry   = 10 * time.Second // not fetched more often, whatever key ids come in
	keysTimeout = 3 * time.Second
	keysSize    = 64 << 10
)

// RemoteKeys fetches the JWKS of an Anteroom server and keeps it. A key id that it does
// not know makes it look again, at most every ten seconds; a fetch that fails leaves the
// keys that it has. It is safe for concurrent use and owns no goroutine.
type RemoteKeys struct {
	url    string
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex // held while fetching, so that one caller fetches for all
	keys    StaticKeys
	fetched time.Time
	tried   time.Time
	lastErr error
}

// NewRemoteKeys reads keys from url, such as https://queue.example/.well-known/jwks.json.
// A nil client is one with a 3 s timeout.
func NewRemoteKeys(url string, client *http.Client) *RemoteKeys {
	if client == nil {
		client = &http.Client{Timeout: keysTimeout}
	}
	return &RemoteKeys{url: url, client: client, now: time.Now}
}

// Key implements Keys.
func (r *RemoteKeys) Key(ctx context.Context, kid string) (ed25519.PublicKey, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, known := r.keys[kid]
	now := r.now()
	due := !known || now.Sub(r.fetched) > keysFresh
	if due && (r.tried.IsZero() || now.Sub(r.tried) >= keysRetry) {
		r.tried = now
		keys, err := r.fetch(ctx)
		if r.lastErr = err; err == nil {
			r.keys, r.fetched = keys, now
			key, known = keys[kid]
		}
	}
	if known {
		return key, nil
	}
	return nil, errors.Join(ErrUnknownKey, r.lastErr)
}

func (r *RemoteKeys) fetch(ctx context.Context) (StaticKeys, error) {
	ctx, cancel := context.WithTimeout(ctx, keysTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return nil, fmt.Errorf("pass: fetch keys: %w", err)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("pass: fetch keys: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("pass: fetch keys: status %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, keysSize))
	if err != nil {
		return nil, fmt.Errorf("pass: fetch keys: %w", err)
	}
	return ParseJWKS(data)
}
