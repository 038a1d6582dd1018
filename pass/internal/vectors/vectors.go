package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"strings"
	"time"

	"github.com/anteroom/anteroom/pass"
)

// The moment and the place of all cases.
const (
	now     = 1780315200 // 2026-06-01 12:00:00 UTC
	issuer  = "https://queue.example"
	room    = "sale"
	visitor = "YW50ZXJvb20gdGVzdCBpZA"
)

// The results: what a verifier says of a token.
const (
	ok         = "ok"
	malformed  = "malformed"
	unknownKey = "unknown_key"
	signature  = "signature"
	expired    = "expired"
	notYet     = "not_yet"
	otherRoom  = "room"
	otherIss   = "issuer"
	generation = "generation"
	handover   = "handover"
)

// file is vectors.json.
type file struct {
	About   string          `json:"about"`
	Now     int64           `json:"now"`
	Leeway  int64           `json:"leeway_s"`
	Issuer  string          `json:"issuer"`
	Room    string          `json:"room"`
	Seeds   []seed          `json:"seeds"`
	JWKS    json.RawMessage `json:"jwks"`
	Results []string        `json:"results"`
	Cases   []vector        `json:"cases"`
}

// seed is a private key by RFC 8032: what a port needs to make the tokens itself.
type seed struct {
	Name string `json:"name"`
	Kid  string `json:"kid"`
	Seed string `json:"seed_base64url"`
}

type vector struct {
	Name          string `json:"name"`
	MinGeneration int64  `json:"min_generation"`
	Result        string `json:"result"`
	Sub           string `json:"sub,omitempty"` // of an accepted one
	Token         string `json:"token"`
}

// keys: one signs, one is retired and still published, one is known to nobody.
type keys struct{ current, retired, stranger ed25519.PrivateKey }

func key(name string) ed25519.PrivateKey {
	sum := sha256.Sum256([]byte("anteroom test vectors, not secret: " + name))
	return ed25519.NewKeyFromSeed(sum[:])
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

func document() ([]byte, error) {
	k := keys{key("current"), key("retired"), key("stranger")}
	set, err := pass.NewStaticKeys(public(k.current), public(k.retired))
	if err != nil {
		return nil, err
	}
	jwks, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	cases, err := k.cases()
	if err != nil {
		return nil, err
	}
	f := file{
		About: "Test vectors for verifiers of Anteroom passes; docs/pass.md explains them. The keys are public knowledge.",
		Now:   now, Leeway: int64(pass.Leeway / time.Second), Issuer: issuer, Room: room, JWKS: jwks,
		Seeds: []seed{seedOf("current", k.current), seedOf("retired", k.retired), seedOf("stranger", k.stranger)},
		Results: []string{
			ok, malformed, unknownKey, signature, expired, notYet, otherRoom, otherIss, generation, handover,
		},
		Cases: cases,
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(f)
	return out.Bytes(), err
}

func seedOf(name string, k ed25519.PrivateKey) seed {
	return seed{name, pass.KeyID(public(k)), encode(k.Seed())}
}

// object is a JSON object; it is written with its keys in order.
type object map[string]any

// with is o with some members changed; nil takes one away.
func (o object) with(changes object) object {
	out := maps.Clone(o)
	for name, v := range changes {
		if out[name] = v; v == nil {
			delete(out, name)
		}
	}
	return out
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// input is what is signed: header and payload in base64url.
func input(header, payload object) string {
	h, _ := json.Marshal(header) // strings, numbers and lists of them
	p, _ := json.Marshal(payload)
	return encode(h) + "." + encode(p)
}

func sign(k ed25519.PrivateKey, header, payload object) string {
	in := input(header, payload)
	return in + "." + encode(ed25519.Sign(k, []byte(in)))
}

func hs256(secret []byte, header, payload object) string {
	in := input(header, payload)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(in))
	return in + "." + encode(mac.Sum(nil))
}

// pemOf is a public key as a file has it, which libraries have taken for an HMAC secret.
func pemOf(k ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(public(k))
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), err
}

// tamper puts another payload into a signed token.
func tamper(token string, payload object) string {
	parts := strings.Split(token, ".")
	return strings.Split(input(object{}, payload), ".")[1] + "." + parts[2]
}
