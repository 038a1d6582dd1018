package main

import (
	"strings"

	"github.com/anteroom/anteroom/pass"
)

// claims are those of a good pass, ten minutes long and one minute old.
func claims() object {
	return object{
		"iss": issuer, "aud": []string{room}, "sub": visitor, "gen": 2, "jti": "dmVjdG9yIG51bWJlciBvbg",
		"iat": now - 60, "nbf": now - 60, "exp": now + 540, "since": now - 60,
	}
}

// set collects cases.
type set struct{ all []vector }

func (s *set) add(name, result, token string) {
	v := vector{Name: name, Result: result, Token: token}
	if result == ok {
		v.Sub = visitor
	}
	s.all = append(s.all, v)
}

// since adds a case in which only passes of a generation from minimum on count.
func (s *set) since(minimum int64, name, result, token string) {
	s.add(name, result, token)
	s.all[len(s.all)-1].MinGeneration = minimum
}

func (k keys) header() object {
	return object{"alg": "EdDSA", "typ": "JWT", "kid": pass.KeyID(public(k.current))}
}

// good is a token of the current key with some claims changed.
func (k keys) good(changes object) string {
	return sign(k.current, k.header(), claims().with(changes))
}

// cases has one fault in each token, so that the order of the checks does not matter.
func (k keys) cases() ([]vector, error) {
	var s set
	k.accepted(&s)
	k.times(&s)
	k.wrongClaims(&s)
	k.wrongKeys(&s)
	k.forms(&s)
	return s.all, k.algorithms(&s)
}

func (k keys) accepted(s *set) {
	s.add("valid", ok, k.good(nil))
	s.add("valid, aud is a string", ok, k.good(object{"aud": room}))
	s.add("valid, without since", ok, k.good(object{"since": nil}))
	s.add("valid, with a claim that nobody knows", ok, k.good(object{"new": object{"a": 1}}))
	s.add("valid, of the retired key", ok,
		sign(k.retired, k.header().with(object{"kid": pass.KeyID(public(k.retired))}), claims()))
	s.since(2, "valid, of the oldest generation that counts", ok, k.good(nil))
	s.since(2, "valid, of a later generation", ok, k.good(object{"gen": 3}))
}

func (k keys) times(s *set) {
	s.add("valid within leeway, exp 4 s ago", ok, k.good(object{"exp": now - 4}))
	s.add("expired, exp 5 s ago", expired, k.good(object{"exp": now - 5}))
	s.add("expired, exp a minute ago", expired, k.good(object{"iat": now - 660, "nbf": now - 660, "exp": now - 60}))
	s.add("valid within leeway, nbf in 5 s", ok, k.good(object{"iat": now + 5, "nbf": now + 5}))
	s.add("not yet, nbf in 6 s", notYet, k.good(object{"nbf": now + 6}))
	s.add("not yet, iat in 6 s", notYet, k.good(object{"iat": now + 6}))
}

func (k keys) wrongClaims(s *set) {
	s.add("wrong room", otherRoom, k.good(object{"aud": []string{"vip"}}))
	s.add("wrong room, other case", otherRoom, k.good(object{"aud": "Sale"}))
	s.add("two audiences", otherRoom, k.good(object{"aud": []string{room, "vip"}}))
	s.add("the same audience twice", otherRoom, k.good(object{"aud": []string{room, room}}))
	s.add("wrong issuer", otherIss, k.good(object{"iss": "https://evil.example"}))
	s.since(3, "old generation", generation, k.good(nil))
	for _, claim := range []string{"aud", "sub", "gen", "jti", "iat", "nbf", "exp"} {
		s.add("missing "+claim, malformed, k.good(object{claim: nil}))
	}
	s.add("generation 0", malformed, k.good(object{"gen": 0}))
	s.add("generation is a string", malformed, k.good(object{"gen": "2"}))
	s.add("hand-over token shown as a pass", handover, k.good(object{"use": "handover", "exp": now + 60}))
	s.add("token of another use", handover, k.good(object{"use": "other"}))
}

func (k keys) wrongKeys(s *set) {
	s.add("wrong key under a known kid", signature, sign(k.stranger, k.header(), claims()))
	s.add("wrong key that brings itself as jwk", signature, sign(k.stranger, k.header().with(object{
		"jwk": object{"kty": "OKP", "crv": "Ed25519", "x": encode(public(k.stranger))},
	}), claims()))
	s.add("wrong key that names its jku", signature, sign(k.stranger, k.header().with(object{
		"jku": "https://evil.example/jwks.json",
	}), claims()))
	s.add("retired key under the current kid", signature, sign(k.retired, k.header(), claims()))
	s.add("unknown kid", unknownKey,
		sign(k.stranger, k.header().with(object{"kid": pass.KeyID(public(k.stranger))}), claims()))
	s.add("no kid", unknownKey, sign(k.current, k.header().with(object{"kid": nil}), claims()))
	s.add("kid is a path", unknownKey, sign(k.current, k.header().with(object{"kid": "../../dev/null"}), claims()))
	s.add("kid is a number", unknownKey, sign(k.current, k.header().with(object{"kid": 7}), claims()))
}

func (k keys) algorithms(s *set) error {
	file, err := pemOf(k.current)
	hs := k.header().with(object{"alg": "HS256"})
	s.add("alg none, no signature", signature, input(k.header().with(object{"alg": "none"}), claims())+".")
	s.add("alg None, no signature", signature, input(k.header().with(object{"alg": "None"}), claims())+".")
	s.add("alg none, with a good signature", signature, sign(k.current, k.header().with(object{"alg": "none"}), claims()))
	s.add("HS256 with the public key's bytes", signature, hs256(public(k.current), hs, claims()))
	s.add("HS256 with the public key's PEM", signature, hs256(file, hs, claims()))
	s.add("HS256 with the public key in base64url", signature, hs256([]byte(encode(public(k.current))), hs, claims()))
	s.add("alg ES256 over an Ed25519 signature", signature, sign(k.current, k.header().with(object{"alg": "ES256"}), claims()))
	s.add("no alg", signature, sign(k.current, k.header().with(object{"alg": nil}), claims()))
	s.add("critical header", malformed, sign(k.current, k.header().with(object{"crit": []string{"exp"}}), claims()))
	s.add("critical header b64", malformed, sign(k.current, k.header().with(object{"crit": []string{"b64"}, "b64": false}), claims()))
	return err
}

func (k keys) forms(s *set) {
	good := k.good(nil)
	parts := strings.Split(good, ".")
	s.add("tampered payload", signature, parts[0]+"."+tamper(good, claims().with(object{"exp": now + 86400})))
	s.add("tampered header", signature,
		strings.Split(input(k.header().with(object{"typ": "jwt"}), claims()), ".")[0]+"."+parts[1]+"."+parts[2])
	s.add("signature of zeros", signature, parts[0]+"."+parts[1]+"."+encode(make([]byte, 64)))
	s.add("signature cut short", signature, parts[0]+"."+parts[1]+"."+encode(make([]byte, 32)))
	s.add("no signature", signature, parts[0]+"."+parts[1]+".")
	s.add("two parts", malformed, parts[0]+"."+parts[1])
	s.add("four parts", malformed, good+"."+parts[2])
	s.add("empty", malformed, "")
	s.add("payload is no JSON", malformed, parts[0]+"."+encode([]byte("{"))+"."+parts[2])
	s.add("header is no base64url", malformed, "?."+parts[1]+"."+parts[2])
	s.add("longer than 4096 bytes", malformed, k.good(object{"pad": strings.Repeat("a", 3200)}))
}
