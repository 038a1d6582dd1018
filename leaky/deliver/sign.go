package deliver

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// ErrSecret is wrapped by what is wrong with a signing secret. The secret is not shown.
var ErrSecret = errors.New("deliver: signing secret")

// Secret is a Standard Webhooks signing secret: "whsec_" and the base64 of 24 to 64 bytes.
// It prints as its length only.
type Secret string

const secretPrefix = "whsec_"

// String implements fmt.Stringer without showing the secret.
func (s Secret) String() string { return fmt.Sprintf("secret of %d characters", len(s)) }

// GoString implements fmt.GoStringer without showing the secret.
func (s Secret) GoString() string { return s.String() }

// LogValue implements slog.LogValuer without showing the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps the secret out of JSON and YAML that is written; reading is unaffected.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Validate checks the form; the error wraps ErrSecret. The bounds are the specification's:
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md.
func (s Secret) Validate() error {
	encoded, prefixed := strings.CutPrefix(string(s), secretPrefix)
	if !prefixed {
		return fmt.Errorf("%w: does not start with %s", ErrSecret, secretPrefix)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") { // which the decoder skips
		return fmt.Errorf("%w: what follows %s is not base64", ErrSecret, secretPrefix)
	}
	if len(key) < 24 || len(key) > 64 {
		return fmt.Errorf("%w: is %d bytes, want 24 to 64", ErrSecret, len(key))
	}
	return nil
}

// signer signs with every secret, so that a receiver may hold the old or the new one while
// they rotate.
type signer []*standardwebhooks.Webhook

// newSigner reports every secret that is wrong.
func newSigner(secrets []Secret) (signer, error) {
	var s signer
	var found []error
	for i, secret := range secrets {
		hook, err := standardwebhooks.NewWebhook(string(secret))
		if invalid := secret.Validate(); invalid != nil {
			found = append(found, fmt.Errorf("number %d: %w", i+1, invalid))
		} else if err != nil {
			found = append(found, fmt.Errorf("number %d: %w", i+1, ErrSecret)) // the library's error quotes it
		}
		s = append(s, hook)
	}
	return s, errors.Join(found...)
}

// sign is the value of Webhook-Signature: a signature a secret, separated by spaces.
func (s signer) sign(id string, at time.Time, body []byte) (string, error) {
	signatures := make([]string, len(s))
	for i, hook := range s {
		var err error
		if signatures[i], err = hook.Sign(id, at, body); err != nil {
			return "", fmt.Errorf("deliver: sign: %w", err)
		}
	}
	return strings.Join(signatures, " "), nil
}
