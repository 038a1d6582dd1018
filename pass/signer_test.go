package pass_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/pass"
)

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
	data := rotated.JWKS()
	published, err := pass.ParseJWKS(data)
	if err != nil || len(published) != 2 {
		t.Errorf("JWKS %s reads as %d keys, %v; want 2", data, len(published), err)
	}
}

func TestKeyFile_RoundTrip(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	data, err := pass.MarshalPrivateKeyPEM(key)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pass.ParsePrivateKeyPEM(data); err != nil || !got.Equal(key) {
		t.Errorf("ParsePrivateKeyPEM after MarshalPrivateKeyPEM: %v", err)
	}
	for _, bad := range []string{"", "x", foreignKey(t), "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := pass.ParsePrivateKeyPEM([]byte(bad)); !errors.Is(err, pass.ErrKey) {
			t.Errorf("ParsePrivateKeyPEM(%q) says %v", bad, err)
		}
	}
}

// foreignKey is a PKCS#8 PEM key of another kind.
func foreignKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func TestSigner_RefusesWhatNoVerifierAccepts(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	for name, c := range map[string]struct {
		room, visitor string
		generation    int64
	}{
		"no room": {"", "v", 1}, "no visitor": {"sale", "", 1}, "no generation": {"sale", "v", 0},
	} {
		if _, _, err := s.Sign(c.room, c.visitor, c.generation, noon, noon.Add(time.Minute)); !errors.Is(err, pass.ErrClaims) {
			t.Errorf("%s: Sign says %v", name, err)
		}
	}
	if _, err := pass.NewSigner("anteroom", nil); !errors.Is(err, pass.ErrKey) {
		t.Errorf("NewSigner without a key says %v", err)
	}
	if _, err := pass.NewSigner("anteroom", newKey(t), ed25519.PublicKey("short")); err == nil {
		t.Error("NewSigner took a public key of 5 bytes")
	}
}

func TestSigner_HeaderAndClaimsAsDocumented(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	token, _, err := newSigner(t, key).Sign("sale", "visitor", 3, noon, noon.Add(90*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	part := func(i int) map[string]any {
		data, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[i])
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]any{}
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	head, body := part(0), part(1)
	if head["alg"] != "EdDSA" || head["typ"] != "JWT" || head["kid"] != pass.KeyID(key.Public().(ed25519.PublicKey)) || len(head) != 3 {
		t.Errorf("header %v", head)
	}
	at := float64(noon.Unix())
	if body["iss"] != "anteroom" || body["sub"] != "visitor" || body["gen"] != 3.0 || body["iat"] != at || body["nbf"] != at || body["exp"] != at+90 || body["since"] != at || len(body) != 9 {
		t.Errorf("claims %v", body)
	}
}

// The key and its thumbprint are those of RFC 8037, appendix A.3.
func TestKeyID_IsTheStartOfTheThumbprint(t *testing.T) {
	t.Parallel()
	key, err := base64.RawURLEncoding.DecodeString("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
	if err != nil {
		t.Fatal(err)
	}
	if got := pass.KeyID(key); got != "kPrK_qmxVWaYVA9w" {
		t.Errorf("KeyID is %q, want kPrK_qmxVWaYVA9w", got)
	}
}

func TestJWKS_SameKeysSameBytes(t *testing.T) {
	t.Parallel()
	a, b := newKey(t), newKey(t)
	one := newSigner(t, a, b.Public().(ed25519.PublicKey)).JWKS()
	two := newSigner(t, b, a.Public().(ed25519.PublicKey)).JWKS()
	if !bytes.Equal(one, two) {
		t.Errorf("%s and %s differ", one, two)
	}
	if bytes.Contains(one, []byte(`"d"`)) {
		t.Errorf("the set holds a private key: %s", one)
	}
}

func TestParseJWKS(t *testing.T) {
	t.Parallel()
	const x, y = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"
	key := func(more string) string { return `{"kty":"OKP","crv":"Ed25519","x":"` + x + `"` + more + `}` }
	for name, c := range map[string]struct {
		keys string
		want int
	}{
		"one":                     {key(`,"kid":"a","use":"sig","alg":"EdDSA"`), 1},
		"without use and alg":     {key(`,"kid":"a"`), 1},
		"RFC 9864 name":           {key(`,"kid":"a","alg":"Ed25519"`), 1},
		"others beside it":        {key(`,"kid":"a"`) + `,{"kty":"RSA","kid":"r","n":"AQAB","e":"AQAB"},{"kty":"new"}`, 1},
		"the same twice":          {key(`,"kid":"a"`) + "," + key(`,"kid":"a"`), 1},
		"two keys of one id":      {key(`,"kid":"a"`) + `,{"kty":"OKP","crv":"Ed25519","kid":"a","x":"` + y + `"}`, 0},
		"no id":                   {key(""), 0},
		"for encryption":          {key(`,"kid":"a","use":"enc"`), 0},
		"of another algorithm":    {key(`,"kid":"a","alg":"ES256"`), 0},
		"of another curve":        {`{"kty":"OKP","crv":"X25519","kid":"a","x":"` + x + `"}`, 0},
		"too short":               {`{"kty":"OKP","crv":"Ed25519","kid":"a","x":"AAAA"}`, 0},
		"padded":                  {`{"kty":"OKP","crv":"Ed25519","kid":"a","x":"` + x + `="}`, 0},
		"no keys":                 {"", 0},
		"not the type that it is": {"7", 0},
	} {
		got, err := pass.ParseJWKS([]byte(`{"keys":[` + c.keys + `]}`))
		if len(got) != c.want || (c.want == 0) != errors.Is(err, pass.ErrJWKS) {
			t.Errorf("%s: %d keys, %v; want %d", name, len(got), err, c.want)
		}
	}
}
