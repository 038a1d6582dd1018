package admission_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom/admission"
)

func BenchmarkHowMany(b *testing.B) {
	l, p, now := limits(), admission.Pace{Bound: true}, start
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(100 * time.Millisecond)
		p = p.Take(l, now, admission.HowMany(l, p, 10, 100_000, now))
	}
}

func BenchmarkEstimate(b *testing.B) {
	l := limits()
	b.ReportAllocs()
	for b.Loop() {
		admission.Estimate(50_000, l, 10*time.Minute, 12*time.Millisecond)
	}
}
