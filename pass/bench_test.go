package pass_test

import (
	"context"
	"testing"
	"time"

	"github.com/anteroom/anteroom/pass"
)

func BenchmarkPass(b *testing.B) {
	key, err := pass.GenerateKey()
	if err != nil {
		b.Fatal(err)
	}
	signer, err := pass.NewSigner("https://queue.example", key)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	token, _, err := signer.Sign("sale", "visitor", 1, now, now.Add(time.Hour))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("sign", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := signer.Sign("sale", "visitor", 1, now, now.Add(time.Hour)); err != nil {
				b.Fatal(err)
			}
		}
	})
	verifier := pass.Verifier{Keys: signer.Keys()}
	b.Run("verify", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := verifier.Verify(context.Background(), token, "sale", 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}
