package rehearse

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const sec = time.Second

var lawful = Rules{Capacity: 2, Heartbeat: 30 * sec, KeepPlace: 600 * sec}

// at makes a visitor that joined around second n, waited, was told its turn at second turn,
// claimed and left two seconds later.
func at(n, turn float64) Visitor {
	s := func(f float64) time.Duration { return time.Duration(f * float64(sec)) }
	v := Visitor{
		Joined: Span{s(n), s(n + 0.1)},
		Stood: []Stand{
			{Sent: s(n), Answered: s(n + 0.1), State: Waiting, Position: 9, PollAfter: sec},
			{Sent: s(turn - 1), Answered: s(turn - 0.9), State: Waiting, Position: 1, PollAfter: sec},
			{Sent: s(turn), Answered: s(turn + 0.1), State: Admitted},
		},
		Claiming: s(turn + 0.1),
		Claims:   []Claim{{Sent: s(turn + 0.1), Answered: s(turn + 0.2), Expires: 60 * sec, Sub: "of " + s(n).String()}},
		Release:  Span{s(turn + 2), s(turn + 2.1)},
		End:      Served,
	}
	return v
}

func with(v Visitor, change func(*Visitor)) Visitor {
	v.Stood, v.Claims = slices.Clone(v.Stood), slices.Clone(v.Claims)
	change(&v)
	return v
}

// refusedAt is told to join again at its n-th second, while it waited.
func refusedAt(v Visitor, t time.Duration) Visitor {
	return with(v, func(v *Visitor) {
		v.Stood = slices.DeleteFunc(v.Stood, func(s Stand) bool { return s.Sent > t || s.State != Waiting })
		v.Claims, v.Claiming, v.Release, v.End, v.Refusal = nil, 0, Span{}, Refused, Span{t, t + sec/10}
	})
}

// asleep is silent from its first answer on and told to join again at t.
func asleep(v Visitor, t time.Duration) Visitor {
	v = refusedAt(v, t)
	v.Stood, v.Slept, v.AwayFrom = v.Stood[:1], true, v.Stood[0].Answered
	return v
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		history History
		rules   Rules
		broken  []string // begins
	}{
		"nobody came":                {History{}, lawful, nil},
		"two at once, two may":       {History{at(1, 10), at(2, 10.5)}, lawful, nil},
		"three at once":              {History{at(1, 10), at(2, 10.5), at(3, 11)}, lawful, []string{"capacity: 3"}},
		"three at once, one allowed": {History{at(1, 10), at(2, 10.5), at(3, 11)}, Rules{Capacity: 2, AllowOver: 1, Heartbeat: 30 * sec}, nil},
		"one after another":          {History{at(1, 10), at(2, 12), at(3, 14), at(4, 16)}, lawful, nil},
		"a session that ran out makes room": {
			History{with(at(1, 10), func(v *Visitor) { v.Claims[0].Expires, v.Release = sec, Span{90 * sec, 91 * sec} }), at(2, 12), at(3, 13)}, lawful, nil,
		},
		"overtaken":                    {History{at(1, 20), at(2, 10)}, lawful, []string{"order: 1 inversions, 1 visitors"}},
		"overtaken twice":              {History{at(1, 30), at(2, 10), at(3, 20)}, lawful, []string{"order: 2 inversions, 1 visitors"}},
		"joined at about the same":     {History{at(1, 20), at(1.05, 10)}, lawful, nil},
		"told a little late":           {History{at(1, 10.5), at(2, 10)}, lawful, nil},
		"overtaken asleep":             {History{with(at(1, 20), func(v *Visitor) { v.Slept = true }), at(2, 10)}, lawful, nil},
		"overtaken, it asked too late": {History{at(1, 70), at(2, 60)}, lawful, nil},
		"another slot": {
			History{with(at(1, 10), func(v *Visitor) {
				v.Claims = append(v.Claims, Claim{Sent: 11 * sec, Answered: 11 * sec, Expires: 59 * sec, Sub: "another"})
			})}, lawful,
			[]string{"one turn a ticket: 1 "},
		},
		"claimed twice, same slot": {
			History{with(at(1, 10), func(v *Visitor) { v.Claims = append(v.Claims, v.Claims[0]) })}, lawful, nil,
		},
		"a shared slot":             {History{at(1, 10), with(at(2, 20), func(v *Visitor) { v.Claims[0].Sub = "of 1s" })}, lawful, []string{"one turn a ticket: 1 "}},
		"a turn after leaving":      {History{with(at(1, 10), func(v *Visitor) { v.After = Admitted })}, lawful, []string{"one turn a ticket: 1 "}},
		"in line after leaving":     {History{with(at(1, 10), func(v *Visitor) { v.After = Waiting })}, lawful, []string{"one turn a ticket: 1 "}},
		"in line again, wiped":      {History{with(at(1, 10), func(v *Visitor) { v.After = Waiting })}, Rules{Capacity: 2, AllowOver: 1, Heartbeat: sec}, nil},
		"join again":                {History{refusedAt(at(1, 10), 5*sec)}, lawful, []string{"nobody is lost: 1 were told"}},
		"put out while inside":      {History{with(at(1, 10), func(v *Visitor) { v.End, v.Refusal = Refused, Span{11 * sec, 11 * sec} })}, lawful, []string{"nobody is lost: 1 were told"}},
		"never through":             {History{with(at(1, 10), func(v *Visitor) { v.End = Unfinished })}, lawful, []string{"nobody is lost: 0 were told to join again, 1 were not"}},
		"never joined":              {History{{}}, lawful, []string{"everybody gets a place: 1 "}},
		"slept too long":            {History{asleep(at(1, 10), 700*sec)}, lawful, nil},
		"its turn came as it slept": {History{asleep(at(2, 10), 45*sec), at(1, 20)}, lawful, nil},
		"lost asleep: somebody before it still waited when it was known to sleep": {
			History{asleep(at(2, 10), 70*sec), with(at(1, 50), func(v *Visitor) { v.Stood[0].PollAfter = 60 * sec })}, lawful,
			[]string{"nobody is lost: 1 were told"},
		},
		"no-show and left": {
			History{with(at(1, 10), func(v *Visitor) { v.Claims, v.End = nil, NoShow }), with(at(2, 20), func(v *Visitor) { v.Claims, v.End = nil, LeftLine })},
			lawful, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Check(c.history, c.rules).Broken()
			same := slices.EqualFunc(got, c.broken, strings.HasPrefix)
			if !same {
				t.Errorf("broken %q, want %q", got, c.broken)
			}
		})
	}
}

// A store that forgot a turn it had given makes an inversion that only the wipe explains;
// one that happens at another time stays an inversion.
func TestOneWipeExplainsOneMoment(t *testing.T) {
	t.Parallel()
	forgotten := History{at(1, 12), at(2, 12.2), at(3, 10.95), at(4, 10.97)}
	later := History{at(41, 60), at(42, 50)}
	for name, c := range map[string]struct {
		h                      History
		wiped                  bool
		inversions, straddling int
	}{
		"not wiped":       {forgotten, false, 2, 0},
		"wiped":           {forgotten, true, 0, 2},
		"and a later one": {append(slices.Clone(forgotten), later...), true, 1, 2},
	} {
		o := judgeOrder(c.h, 30*sec, c.wiped)
		if o.Inversions != c.inversions || o.Straddling != c.straddling {
			t.Errorf("%s: %d inversions and %d straddling, want %d and %d (wipe at %s)", name, o.Inversions, o.Straddling, c.inversions, c.straddling, o.WipedAt)
		}
	}
}

// The count in O(n log n) is that of comparing every pair.
func TestInversionsAgainstEveryPair(t *testing.T) {
	t.Parallel()
	rnd := newRand(7)
	for range 50 {
		h := make(History, 0, 40)
		for range 40 {
			h = append(h, at(rnd.Float64()*10, 12+rnd.Float64()*10))
		}
		want := 0
		for i := range h {
			for j := range h {
				b, _ := h[j].turn(-1)
				if h[i].Joined.Answered < h[j].Joined.Sent && b.Answered < h[i].lastWaiting(always) {
					want++
				}
			}
		}
		if got := judgeOrder(h, 30*sec, false).Inversions; got != want {
			t.Fatalf("%d inversions, want %d", got, want)
		}
	}
}

func TestInsideBySecond(t *testing.T) {
	t.Parallel()
	in := countInside(History{at(1, 1.5), at(1, 2.5), at(1, 5.5)})
	// Inside from 1.7 to 3.5, from 2.7 to 4.5 and from 5.7 to 7.5.
	if want := []int{0, 1, 2, 2, 1, 1, 1, 1}; !slices.Equal(in.Seconds, want) {
		t.Errorf("by second %v, want %v", in.Seconds, want)
	}
	if in.Highest != 2 || in.At != 2700*time.Millisecond || in.Possible != 2 {
		t.Errorf("highest %d at %s, possible %d", in.Highest, in.At, in.Possible)
	}
}
