package pass_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/anteroom/anteroom/pass"
)

// results are the names that vectors.json has for what Verify says.
var results = map[string]error{
	"ok": nil, "malformed": pass.ErrMalformed, "unknown_key": pass.ErrUnknownKey, "signature": pass.ErrSignature,
	"expired": pass.ErrExpired, "not_yet": pass.ErrNotYet, "room": pass.ErrRoom, "issuer": pass.ErrIssuer,
	"generation": pass.ErrGeneration, "handover": pass.ErrHandover,
}

type vectors struct {
	Now     int64
	Leeway  int64 `json:"leeway_s"`
	Issuer  string
	Room    string
	JWKS    json.RawMessage
	Results []string
	Cases   []struct {
		Name          string
		MinGeneration int64 `json:"min_generation"`
		Result        string
		Sub           string
		Token         string
	}
}

func TestVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	keys, err := pass.ParseJWKS(v.JWKS)
	if err != nil {
		t.Fatal(err)
	}
	if time.Duration(v.Leeway)*time.Second != pass.Leeway {
		t.Errorf("leeway_s is %d, want %v", v.Leeway, pass.Leeway)
	}
	verifier := pass.Verifier{Keys: keys, Issuer: v.Issuer, Now: func() time.Time { return time.Unix(v.Now, 0) }}
	met := map[string]bool{}
	for _, c := range v.Cases {
		want, known := results[c.Result]
		if !known || !slices.Contains(v.Results, c.Result) {
			t.Errorf("%s: the result %q is unknown", c.Name, c.Result)
		}
		met[c.Result] = true
		got, err := verifier.Verify(t.Context(), c.Token, v.Room, c.MinGeneration)
		if !errors.Is(err, want) || got.Visitor != c.Sub || (want == nil) != (c.Sub != "") {
			t.Errorf("%s: Verify says %q, %v; want %q, %v", c.Name, got.Visitor, err, c.Sub, want)
		}
	}
	if len(met) != len(results) || len(v.Results) != len(results) {
		t.Errorf("the cases meet %v of %d results", met, len(results))
	}
}
