package pass_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/anteroom/anteroom/pass"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func newKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newSigner(t testing.TB, key ed25519.PrivateKey, retired ...ed25519.PublicKey) *pass.Signer {
	t.Helper()
	s, err := pass.NewSigner("anteroom", key, retired...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(s *pass.Signer, now time.Time) pass.Verifier {
	return pass.Verifier{Keys: s.Keys(), Issuer: "anteroom", Now: func() time.Time { return now }}
}

// forge signs any header and claims, the way an attacker or a broken issuer would.
func forge(t testing.TB, method jwt.SigningMethod, key any, header map[string]any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	for k, v := range header {
		token.Header[k] = v
	}
	signed, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func TestVerify_AcceptsOnlyAPassOfThisRoomAndTime(t *testing.T) {
	t.Parallel()
	key, other := newKey(t), newKey(t)
	s := newSigner(t, key)
	public := key.Public().(ed25519.PublicKey)
	kid := map[string]any{"kid": pass.KeyID(public)}
	good, claims, err := s.Sign("sale", "visitor", 2, noon, noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	full := func(change func(jwt.MapClaims)) jwt.MapClaims {
		c := jwt.MapClaims{
			"iss": "anteroom", "aud": "sale", "sub": "visitor", "gen": 2, "jti": "j",
			"iat": noon.Unix(), "nbf": noon.Unix(), "exp": noon.Add(time.Minute).Unix(),
		}
		change(c)
		return c
	}
	without := func(claim string) string {
		return forge(t, jwt.SigningMethodEdDSA, key, kid, full(func(c jwt.MapClaims) { delete(c, claim) }))
	}
	foreign, _, _ := newSigner(t, other).Sign("sale", "visitor", 2, noon, noon.Add(time.Minute))
	parts := strings.Split(good, ".")

	for name, c := range map[string]struct {
		token string
		now   time.Time
		room  string
		gen   int64
		want  error
	}{
		"valid":                     {good, noon, "sale", 2, nil},
		"within the leeway":         {good, noon.Add(64 * time.Second), "sale", 2, nil},
		"clock 4 s behind":          {good, noon.Add(-4 * time.Second), "sale", 2, nil},
		"expired":                   {good, noon.Add(66 * time.Second), "sale", 2, pass.ErrExpired},
		"before its time":           {good, noon.Add(-6 * time.Second), "sale", 2, pass.ErrNotYet},
		"another room":              {good, noon, "other", 2, pass.ErrRoom},
		"old generation":            {good, noon, "sale", 3, pass.ErrGeneration},
		"unknown key":               {foreign, noon, "sale", 2, pass.ErrUnknownKey},
		"wrong key under our kid":   {forge(t, jwt.SigningMethodEdDSA, other, kid, full(func(jwt.MapClaims) {})), noon, "sale", 2, pass.ErrSignature},
		"alg none":                  {forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, kid, full(func(jwt.MapClaims) {})), noon, "sale", 2, pass.ErrSignature},
		"HS256 with the public key": {forge(t, jwt.SigningMethodHS256, []byte(public), kid, full(func(jwt.MapClaims) {})), noon, "sale", 2, pass.ErrSignature},
		"kid is a path":             {forge(t, jwt.SigningMethodEdDSA, key, map[string]any{"kid": "../../etc/passwd"}, full(func(jwt.MapClaims) {})), noon, "sale", 2, pass.ErrUnknownKey},
		"kid is a number":           {forge(t, jwt.SigningMethodEdDSA, key, map[string]any{"kid": 7}, full(func(jwt.MapClaims) {})), noon, "sale", 2, pass.ErrUnknownKey},
		"critical header":           {forge(t, jwt.SigningMethodEdDSA, key, map[string]any{"kid": pass.KeyID(public), "crit": []string{"x"}}, full(func(jwt.MapClaims) {})), noon, "sale", 2, pass.ErrMalformed},
		"two audiences":             {forge(t, jwt.SigningMethodEdDSA, key, kid, full(func(c jwt.MapClaims) { c["aud"] = []string{"sale", "vip"} })), noon, "sale", 2, pass.ErrRoom},
		"another issuer":            {forge(t, jwt.SigningMethodEdDSA, key, kid, full(func(c jwt.MapClaims) { c["iss"] = "x" })), noon, "sale", 2, pass.ErrIssuer},
		"no exp":                    {without("exp"), noon, "sale", 2, pass.ErrMalformed},
		"no iat":                    {without("iat"), noon, "sale", 2, pass.ErrMalformed},
		"no sub":                    {without("sub"), noon, "sale", 2, pass.ErrMalformed},
		"no jti":                    {without("jti"), noon, "sale", 2, pass.ErrMalformed},
		"no gen":                    {without("gen"), noon, "sale", 2, pass.ErrMalformed},
		"no aud":                    {without("aud"), noon, "sale", 2, pass.ErrRoom},
		"changed body":              {parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"aud":"sale"}`)) + "." + parts[2], noon, "sale", 2, pass.ErrSignature},
		"empty":                     {"", noon, "sale", 2, pass.ErrMalformed},
		"a megabyte of dots":        {strings.Repeat(".", 1<<20), noon, "sale", 2, pass.ErrMalformed},
		"dots within the length":    {strings.Repeat(".", 4000), noon, "sale", 2, pass.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := at(s, c.now).Verify(context.Background(), c.token, c.room, c.gen)
			if !errors.Is(err, c.want) {
				t.Fatalf("Verify says %v, want %v", err, c.want)
			}
			if c.want == nil && (got.Visitor != claims.Visitor || got.ID != claims.ID || got.Generation != 2) {
				t.Fatalf("Verify read %+v, want %+v", got, claims)
			}
		})
	}
}

func TestSigner_RetiredKeyStaysGood(t *testing.T) {
	t.Parallel()
	before := newKey(t)
	old, _, err := newSigner(t, before).Sign("sale", "v", 1, noon, noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	rotated := newSigner(t, newKey(t), before.Public().(ed25519.PublicKey))
	if _, err := at(rotated, noon).Verify(context.Background(), old, "sale", 1); err != nil {
		t.Errorf("pass of the retired key: %v", err)
	}
	data, err := json.Marshal(rotated.Keys())
	if err != nil {
		t.Fatal(err)
	}
	published, err := pass.ParseJWKS(data)
	if err != nil || len(published) != 2 {
		t.Errorf("JWKS %s reads as %d keys, %v; want 2", data, len(published), err)
	}
}

func TestKeyFile_RoundTrip(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	data, err := pass.MarshalKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pass.ParseKey(data); err != nil || !got.Equal(key) {
		t.Errorf("ParseKey after MarshalKey: %v", err)
	}
	for _, bad := range []string{"", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := pass.ParseKey([]byte(bad)); !errors.Is(err, pass.ErrKey) {
			t.Errorf("ParseKey(%q) says %v", bad, err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	s := newSigner(f, newKey(f))
	good, _, err := s.Sign("sale", "v", 1, noon, noon.Add(time.Minute))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	v := at(s, noon)
	f.Fuzz(func(t *testing.T, token string) {
		c, err := v.Verify(context.Background(), token, "sale", 1)
		if err == nil && (c.Room != "sale" || c.Visitor != "v") {
			t.Fatalf("accepted %q as %+v", token, c)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	s := newSigner(b, newKey(b))
	token, _, err := s.Sign("sale", "v", 1, noon, noon.Add(time.Minute))
	if err != nil {
		b.Fatal(err)
	}
	v := at(s, noon)
	for b.Loop() {
		if _, err := v.Verify(context.Background(), token, "sale", 1); err != nil {
			b.Fatal(err)
		}
	}
}
