package rehearse

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestQuantile(t *testing.T) {
	t.Parallel()
	ten := []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, c := range []struct {
		of   []time.Duration
		q    float64
		want time.Duration
	}{{nil, 0.5, 0}, {ten[:1], 0.95, 1}, {ten, 0, 1}, {ten, 0.5, 5}, {ten, 0.95, 10}, {ten, 1, 10}} {
		if got := quantile(c.of, c.q); got != c.want {
			t.Errorf("quantile %v of %v is %d, want %d", c.q, c.of, got, c.want)
		}
	}
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []int
		top    int
		want   string
	}{
		{nil, 100, ""},
		{[]int{0, 1, 50, 99, 100, 150}, 100, " ▁▄▇██"},
		{[]int{0, 1, 2}, 1, " ██"},
		{[]int{0, 1}, 0, " █"},
	} {
		if got := sparkline(c.values, c.top); got != c.want {
			t.Errorf("sparkline of %v to %d is %q, want %q", c.values, c.top, got, c.want)
		}
	}
	columns, each := squeeze([]int{1, 5, 2, 0, 3}, 2)
	if !slices.Equal(columns, []int{5, 3}) || each != 3 {
		t.Errorf("squeezed to %v, %d each", columns, each)
	}
}

func TestPlansHaveExactShares(t *testing.T) {
	t.Parallel()
	c := Defaults()
	c.Visitors = 1000
	crowd, same := plans(&c, newRand(3)), plans(&c, newRand(3))
	if !slices.Equal(crowd, same) {
		t.Error("one seed made two plans")
	}
	roles, probes := map[Role]int{}, 0
	for _, p := range crowd {
		roles[p.Role]++
		if p.Probe {
			probes++
		}
		if p.Arrive < 0 || p.Arrive > c.Arrive || p.Turn > c.Within {
			t.Fatalf("plan %+v", p)
		}
	}
	if roles[Leaver] != 100 || roles[Sleeper] != 100 || roles[Absent] != 50 || roles[Plain] != 750 || probes != 100 {
		t.Errorf("roles %v, %d probes", roles, probes)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	rnd := newRand(1)
	for _, c := range []struct {
		failures    int
		asked       time.Duration
		least, most time.Duration
	}{
		{1, 0, 0, 2 * sec},
		{2, 0, 0, 4 * sec},
		{50, 0, 0, 15 * sec},
		{1, 7 * sec, 7 * sec, 7 * sec},
		{1, time.Hour, 5 * time.Minute, 5 * time.Minute},
	} {
		for range 100 {
			if got := pause(c.failures, c.asked, rnd); got < c.least || got > c.most {
				t.Fatalf("after %d failures, asked for %s: %s, want %s to %s", c.failures, c.asked, got, c.least, c.most)
			}
		}
	}
}
