package pass

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// maxKeyID bounds what is looked up; ours have 16 characters.
const maxKeyID = 128

// Verifier checks passes. The zero value of an optional field switches its check off.
// It is safe for concurrent use.
type Verifier struct {
	// Keys are the public keys; required.
	Keys Keys
	// Issuer, if set, must be the pass's iss.
	Issuer string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Grace is for how long after its end a pass is still accepted. It is for a caller
	// that then asks whether the visitor is inside: the slot of somebody active may have
	// grown since the pass was issued.
	Grace time.Duration
}

// Verify returns what the pass says if it is good for room now and of at least
// generation minGeneration (0 accepts all). The error wraps one of the Err values.
// The header names a key of Keys and can bring none: jwk, jku and x5c are not read.
func (v Verifier) Verify(ctx context.Context, token, room string, minGeneration int64) (Claims, error) {
	return v.verify(ctx, token, "", room, minGeneration)
}

// VerifyHandover is Verify for a token of SignHandover. It does not know whether the token
// was used before: whoever redeems it has to.
func (v Verifier) VerifyHandover(ctx context.Context, token, room string, minGeneration int64) (Claims, error) {
	return v.verify(ctx, token, useHandover, room, minGeneration)
}

func (v Verifier) verify(ctx context.Context, token, use, room string, minGeneration int64) (Claims, error) {
	if len(token) > MaxLength {
		return Claims{}, fmt.Errorf("%w: longer than %d bytes", ErrMalformed, MaxLength)
	}
	if strings.ContainsAny(token, "\r\n") { // encoding/base64 would skip them
		return Claims{}, fmt.Errorf("%w: line end", ErrMalformed)
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation())
	var w wire
	_, err := parser.ParseWithClaims(token, &w, func(t *jwt.Token) (any, error) { return v.key(ctx, t) })
	if err == nil {
		err = v.inTime(&w)
	}
	if err != nil {
		return Claims{}, sentinel(err)
	}
	if w.Use != use {
		return Claims{}, ErrHandover
	}
	return v.check(w, room, minGeneration)
}

func (v Verifier) key(ctx context.Context, t *jwt.Token) (any, error) {
	if _, critical := t.Header["crit"]; critical {
		return nil, fmt.Errorf("%w: critical header", ErrMalformed)
	}
	kid, _ := t.Header["kid"].(string)
	if kid == "" || len(kid) > maxKeyID {
		return nil, ErrUnknownKey
	}
	key, err := v.Keys.Key(ctx, kid)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknownKey, err)
	}
	return key, nil
}

// inTime checks exp, nbf and iat.
func (v Verifier) inTime(w *wire) error {
	now := time.Now
	if v.Now != nil {
		now = v.Now
	}
	err := jwt.NewValidator(jwt.WithLeeway(Leeway), jwt.WithIssuedAt(), jwt.WithExpirationRequired(), jwt.WithTimeFunc(now)).Validate(w)
	if v.Grace > 0 && errors.Is(err, jwt.ErrTokenExpired) && now().Before(w.ExpiresAt.Add(v.Grace)) {
		return nil
	}
	return err
}

func (v Verifier) check(w wire, room string, minGeneration int64) (Claims, error) {
	switch {
	case w.Subject == "" || w.ID == "" || w.IssuedAt == nil || w.NotBefore == nil || w.Generation < 1 || len(w.Audience) == 0:
		return Claims{}, fmt.Errorf("%w: a claim is missing", ErrMalformed)
	case len(w.Audience) != 1 || w.Audience[0] != room:
		return Claims{}, ErrRoom
	case v.Issuer != "" && w.Issuer != v.Issuer:
		return Claims{}, ErrIssuer
	case w.Generation < minGeneration:
		return Claims{}, ErrGeneration
	}
	c := Claims{
		Issuer: w.Issuer, Room: room, Visitor: w.Subject, Generation: w.Generation, ID: w.ID,
		IssuedAt: w.IssuedAt.Time, Expires: w.ExpiresAt.Time,
	}
	if w.Since != nil {
		c.Since = w.Since.Time
	}
	return c, nil
}

// sentinel turns the library's errors into ours. Ours come first: the library wraps what
// the key lookup said as "unverifiable", which else means an algorithm it does not have.
func sentinel(err error) error {
	for _, own := range []error{ErrUnknownKey, ErrMalformed} {
		if errors.Is(err, own) {
			return err
		}
	}
	for _, m := range []struct{ from, to error }{
		{jwt.ErrTokenMalformed, ErrMalformed},
		{jwt.ErrTokenUnverifiable, ErrSignature},
		{jwt.ErrTokenSignatureInvalid, ErrSignature},
		{jwt.ErrTokenExpired, ErrExpired},
		{jwt.ErrTokenNotValidYet, ErrNotYet},
		{jwt.ErrTokenUsedBeforeIssued, ErrNotYet},
	} {
		if errors.Is(err, m.from) {
			return fmt.Errorf("%w: %w", m.to, err)
		}
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}
