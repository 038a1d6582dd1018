package pass_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom/pass"
)

func BenchmarkSign(b *testing.B) {
	key, err := pass.GenerateKey()
	if err != nil {
		b.Fatal(err)
	}
	signer, err := pass.NewSigner("https://queue.example", key)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := signer.Sign("sale", "visitor", 1, now, now.Add(time.Hour)); err != nil {
			b.Fatal(err)
		}
	}
}
