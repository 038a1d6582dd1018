package schedule_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/leaky/schedule"
)

type ask struct {
	lane string
	cost int64
	n    int // when it came
}

func lanes(t rapid.TB, high, normal float64) *schedule.Lanes[ask] {
	l, err := schedule.New[ask](schedule.Share{Lane: "high", Weight: high}, schedule.Share{Lane: "normal", Weight: normal})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func push(l *schedule.Lanes[ask], a ask) { l.Push(a.lane, a.cost, a) }

// While both lanes wait, the work of each, divided by its weight, never differs by more
// than one job of either: the theorem of start-time fair queueing, over every interval.
func TestLanes_BothGetTheirShareOverEveryInterval(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		weight := map[string]float64{"high": rapid.Float64Range(0.1, 10).Draw(t, "high"), "normal": rapid.Float64Range(0.1, 10).Draw(t, "normal")}
		most := rapid.Int64Range(1, 100).Draw(t, "most")
		l := lanes(t, weight["high"], weight["normal"])
		cost := rapid.Int64Range(1, most)
		waits := map[string]int{}
		add := func(lane string) {
			push(l, ask{lane: lane, cost: cost.Draw(t, "cost")})
			waits[lane]++
		}
		bound := float64(most)/weight["high"] + float64(most)/weight["normal"] + 1e-6
		lead, low, high := 0.0, 0.0, 0.0 // of high over normal, since both have waited
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "push") {
				add(rapid.SampledFrom([]string{"high", "normal"}).Draw(t, "lane"))
			}
			both := waits["high"] > 0 && waits["normal"] > 0
			a, c, ok := l.Pop()
			if !ok {
				continue
			}
			waits[a.lane]--
			if !both {
				lead, low, high = 0, 0, 0
				continue
			}
			lead += map[string]float64{"high": 1, "normal": -1}[a.lane] * float64(c) / weight[a.lane]
			low, high = min(low, lead), max(high, lead)
			if high-low > bound {
				t.Fatalf("one lane is %.3f ahead of the other within an interval, at most %.3f is fair", high-low, bound)
			}
		}
	})
}

// Every job comes out once, of one lane and class in the order in which it came.
func TestLanes_EachJobOnceAndInOrderOfItsClass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := lanes(t, 3, 1)
		pushed, last, seen := 0, map[string]int{}, map[int]bool{}
		take := func() {
			want, _, waits := l.Peek()
			got, _, ok := l.Pop()
			if want != got || waits != ok {
				t.Fatalf("Peek promised %v, Pop gave %v", want, got)
			}
			if !ok {
				return
			}
			flow := fmt.Sprint(got.lane, math.Ilogb(float64(got.cost)))
			if seen[got.n] || last[flow] > got.n {
				t.Fatalf("job %d of %s after job %d, seen before: %v", got.n, flow, last[flow], seen[got.n])
			}
			seen[got.n], last[flow] = true, got.n
		}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "push") {
				pushed++
				push(l, ask{rapid.SampledFrom([]string{"high", "normal"}).Draw(t, "lane"), rapid.Int64Range(1, 1000).Draw(t, "cost"), pushed})
				continue
			}
			take()
		}
		for l.Len() > 0 {
			take()
		}
		if len(seen) != pushed {
			t.Fatalf("%d jobs came out, %d went in", len(seen), pushed)
		}
	})
}

// A thousand heavy jobs wait; each light one that comes is gone before a second heavy one.
func TestLanes_HeavyJobsDoNotStandInTheWayOfLightOnes(t *testing.T) {
	t.Parallel()
	l := lanes(t, 3, 1)
	for range 1000 {
		push(l, ask{lane: "normal", cost: 500})
	}
	for range 10 {
		l.Pop()
		push(l, ask{lane: "normal", cost: 1})
		heavy := 0
		for a, _, ok := l.Pop(); ok && a.cost > 1; a, _, ok = l.Pop() {
			heavy++
		}
		if heavy > 1 {
			t.Errorf("a light job let %d heavy ones pass", heavy)
		}
	}
}

// And the heavy ones are not starved by light ones that never end: half of the work is theirs.
func TestLanes_LightJobsDoNotStarveHeavyOnes(t *testing.T) {
	t.Parallel()
	l := lanes(t, 3, 1)
	work := map[int64]int64{}
	for range 10_000 {
		push(l, ask{lane: "normal", cost: 1})
		push(l, ask{lane: "normal", cost: 64})
		a, _, _ := l.Pop()
		work[a.cost] += a.cost
	}
	if d := work[64] - work[1]; d < -128 || d > 128 {
		t.Errorf("work is %v, want halves", work)
	}
}

// A lane that was empty for long has earned nothing and owes nothing.
func TestLanes_TimeWithoutJobsEarnsNothing(t *testing.T) {
	t.Parallel()
	l := lanes(t, 1, 1)
	for range 1000 {
		push(l, ask{lane: "normal", cost: 1})
	}
	for range 500 {
		l.Pop()
	}
	for range 100 {
		push(l, ask{lane: "high", cost: 1})
	}
	high := 0
	for range 100 {
		if a, _, _ := l.Pop(); a.lane == "high" {
			high++
		}
	}
	if high < 49 || high > 51 {
		t.Errorf("of 100 jobs %d were of the lane that came back, want half", high)
	}
}

func TestLanes_DropIsFreeAndPushFrontIsNext(t *testing.T) {
	t.Parallel()
	l := lanes(t, 1, 1)
	for n := range 3 {
		push(l, ask{"high", 1, n})
	}
	push(l, ask{"normal", 1, 9})
	if a, ok := l.Drop(); !ok || a.n != 0 {
		t.Errorf("dropped %v", a)
	}
	a, _, _ := l.Pop()
	if a.n != 1 {
		t.Errorf("after a drop came %v, want job 1 of the same lane", a)
	}
	l.PushFront("high", 1, a)
	l.Filter(func(a ask) bool { return a.lane == "high" })
	for _, want := range []int{1, 2} {
		if a, _, ok := l.Pop(); !ok || a.n != want {
			t.Errorf("got %v, want job %d", a, want)
		}
	}
	if _, _, ok := l.Pop(); ok || l.Len() != 0 {
		t.Errorf("%d jobs are left", l.Len())
	}
	if _, ok := l.Drop(); ok {
		t.Error("dropped a job that was not there")
	}
}

func TestNew_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, shares := range map[string][]schedule.Share{
		"none": nil, "zero": {{Lane: "a"}}, "negative": {{"a", -1}}, "not a number": {{"a", math.NaN()}},
		"endless": {{"a", math.Inf(1)}}, "twice": {{"a", 1}, {"a", 2}},
	} {
		if _, err := schedule.New[int](shares...); !errors.Is(err, schedule.ErrShares) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
