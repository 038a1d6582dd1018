package pass_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
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
	key, err := pass.GenerateKey()
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

// header is the first part of a token.
func header(json string) string { return base64.RawURLEncoding.EncodeToString([]byte(json)) }

func jwkOf(key ed25519.PrivateKey) map[string]any {
	x := base64.RawURLEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
	return map[string]any{"kty": "OKP", "crv": "Ed25519", "x": x}
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
	body := "." + parts[1] + "." + parts[2]

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
		"no kid":                    {forge(t, jwt.SigningMethodEdDSA, key, nil, full(func(jwt.MapClaims) {})), noon, "sale", 2, pass.ErrUnknownKey},
		"its own key in jwk":        {forge(t, jwt.SigningMethodEdDSA, other, map[string]any{"kid": pass.KeyID(public), "jwk": jwkOf(other), "jku": "https://evil.test/jwks.json"}, full(func(jwt.MapClaims) {})), noon, "sale", 2, pass.ErrSignature},
		"an algorithm of no one":    {header(`{"alg":"XX","kid":"k"}`) + body, noon, "sale", 2, pass.ErrSignature},
		"no algorithm":              {header(`{"kid":"k"}`) + body, noon, "sale", 2, pass.ErrSignature},
		"alg is a list":             {header(`{"alg":["EdDSA"]}`) + body, noon, "sale", 2, pass.ErrSignature},
		"issued in the future":      {forge(t, jwt.SigningMethodEdDSA, key, kid, full(func(c jwt.MapClaims) { c["iat"] = noon.Add(time.Minute).Unix() })), noon, "sale", 2, pass.ErrNotYet},
		"generation 0":              {forge(t, jwt.SigningMethodEdDSA, key, kid, full(func(c jwt.MapClaims) { c["gen"] = 0 })), noon, "sale", 0, pass.ErrMalformed},
		"generation is a text":      {forge(t, jwt.SigningMethodEdDSA, key, kid, full(func(c jwt.MapClaims) { c["gen"] = "2" })), noon, "sale", 2, pass.ErrMalformed},
		"the same audience twice":   {forge(t, jwt.SigningMethodEdDSA, key, kid, full(func(c jwt.MapClaims) { c["aud"] = []string{"sale", "sale"} })), noon, "sale", 2, pass.ErrRoom},
		"kid is a number":           {forge(t, jwt.SigningMethodEdDSA, key, map[string]any{"kid": 7}, full(func(jwt.MapClaims) {})), noon, "sale", 2, pass.ErrUnknownKey},
		"critical header":           {forge(t, jwt.SigningMethodEdDSA, key, map[string]any{"kid": pass.KeyID(public), "crit": []string{"x"}}, full(func(jwt.MapClaims) {})), noon, "sale", 2, pass.ErrMalformed},
		"two audiences":             {forge(t, jwt.SigningMethodEdDSA, key, kid, full(func(c jwt.MapClaims) { c["aud"] = []string{"sale", "vip"} })), noon, "sale", 2, pass.ErrRoom},
		"another issuer":            {forge(t, jwt.SigningMethodEdDSA, key, kid, full(func(c jwt.MapClaims) { c["iss"] = "x" })), noon, "sale", 2, pass.ErrIssuer},
		"no exp":                    {without("exp"), noon, "sale", 2, pass.ErrMalformed},
		"no iat":                    {without("iat"), noon, "sale", 2, pass.ErrMalformed},
		"no sub":                    {without("sub"), noon, "sale", 2, pass.ErrMalformed},
		"no jti":                    {without("jti"), noon, "sale", 2, pass.ErrMalformed},
		"no gen":                    {without("gen"), noon, "sale", 2, pass.ErrMalformed},
		"no nbf":                    {without("nbf"), noon, "sale", 2, pass.ErrMalformed},
		"no aud":                    {without("aud"), noon, "sale", 2, pass.ErrMalformed},
		"changed body":              {parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"aud":"sale"}`)) + "." + parts[2], noon, "sale", 2, pass.ErrSignature},
		"line end in the signature": {good + "\n", noon, "sale", 2, pass.ErrMalformed},
		"one byte too long":         {good + strings.Repeat("A", pass.MaxLength+1-len(good)), noon, "sale", 2, pass.ErrMalformed},
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

func FuzzVerify(f *testing.F) {
	s := newSigner(f, newKey(f))
	good, _, err := s.Sign("sale", "v", 1, noon, noon.Add(time.Minute))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("a.b.c")
	f.Add(strings.Repeat(".", 64))
	f.Add(header(`{"alg":"EdDSA","kid":"../","crit":["b64"]}`) + "." + strings.SplitN(good, ".", 2)[1])
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	v := at(s, noon)
	f.Fuzz(func(t *testing.T, token string) {
		c, err := v.Verify(context.Background(), token, "sale", 1)
		if err == nil && token != good {
			t.Fatalf("accepted %q as %+v", token, c)
		}
		if err != nil && !known(err) {
			t.Fatalf("%q: %v is none of the package's errors", token, err)
		}
	})
}

func known(err error) bool {
	for _, own := range []error{
		pass.ErrMalformed, pass.ErrUnknownKey, pass.ErrSignature, pass.ErrExpired,
		pass.ErrNotYet, pass.ErrRoom, pass.ErrIssuer, pass.ErrGeneration,
	} {
		if errors.Is(err, own) {
			return true
		}
	}
	return false
}

func BenchmarkVerify(b *testing.B) {
	s := newSigner(b, newKey(b))
	token, _, err := s.Sign("sale", "v", 1, noon, noon.Add(time.Minute))
	if err != nil {
		b.Fatal(err)
	}
	v := at(s, noon)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(context.Background(), token, "sale", 1); err != nil {
			b.Fatal(err)
		}
	}
}
