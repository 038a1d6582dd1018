package proof_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/proof"
)

func TestProof_CountsForItsRoomAndTime(t *testing.T) {
	t.Parallel()
	i, now := proof.New([]byte("a key of enough bytes")), time.Now()
	c, err := i.Ask("sale", 5000, now)
	if err != nil {
		t.Fatal(err)
	}
	good, err := proof.Solve(c)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := base64.StdEncoding.DecodeString(good)
	later := base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(raw), "?expires=", "?expires=9", 1)))
	for name, x := range map[string]struct {
		issuer  *proof.Issuer
		room    string
		payload string
		at      time.Time
		want    error
	}{
		"solved":              {i, "sale", good, now.Add(proof.Life - time.Second), nil},
		"too late":            {i, "sale", good, now.Add(proof.Life + 2*time.Second), proof.ErrExpired},
		"another room":        {i, "other", good, now, proof.ErrWrong},
		"another key":         {proof.New([]byte("another key of bytes")), "sale", good, now, proof.ErrWrong},
		"a longer life":       {i, "sale", later, now, proof.ErrWrong},
		"no base64":           {i, "sale", "%%%", now, proof.ErrMalformed},
		"no JSON":             {i, "sale", base64.StdEncoding.EncodeToString([]byte("x")), now, proof.ErrMalformed},
		"another number":      {i, "sale", base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(raw), `"number":`, `"number":1`, 1))), now, proof.ErrWrong},
		"nothing":             {i, "sale", "", now, proof.ErrMalformed},
		"longer than is read": {i, "sale", strings.Repeat("A", 2000), now, proof.ErrMalformed},
	} {
		if _, err := x.issuer.Verify(x.room, x.payload, x.at); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", name, err, x.want)
		}
	}
}

func FuzzVerify(f *testing.F) {
	i := proof.New([]byte("a key of enough bytes"))
	f.Add("e30=")
	f.Fuzz(func(t *testing.T, payload string) {
		if _, err := i.Verify("sale", payload, time.Now()); err == nil {
			t.Fatalf("%q was taken for a proof", payload)
		}
	})
}
