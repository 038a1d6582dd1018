package rehearse

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Rules are what a history is held against.
type Rules struct {
	Capacity  int
	AllowOver int // so many above capacity are allowed: the store was wiped
	// AllowStraight lets visitors get to the shop without a pass.
	AllowStraight bool
	Heartbeat     time.Duration // silence after which a turn passes to the next
	KeepPlace     time.Duration // silence after which a place may be lost
}

// wiped tells whether the run was said to wipe the store.
func (r Rules) wiped() bool { return r.AllowOver > 0 }

// Doubles counts tickets that got, or were about to get, more than their one turn.
type Doubles struct {
	OtherSlot  int `json:"other_slot"`  // claimed twice, for different slots
	SharedSlot int `json:"shared_slot"` // two tickets, one slot
	TurnAgain  int `json:"turn_again"`  // told it is its turn, after it had left
	LineAgain  int `json:"line_again"`  // told it stands in the line, after it had left
}

// Losses counts visitors that joined and did not end properly.
type Losses struct {
	Refused    int `json:"refused"`    // told to join again, though they did nothing wrong
	Unfinished int `json:"unfinished"` // still in the line or inside when the run was over
	Outside    int `json:"outside"`    // claimed their turn and never got to the shop
}

// LostExample is the evidence that one visitor was lost. Times are seconds.
type LostExample struct {
	To       string  `json:"to"` // what it wanted as it was told to join again
	Joined   float64 `json:"joined_s"`
	Slept    bool    `json:"slept"`
	AwayFrom float64 `json:"away_from_s"` // when it fell silent, if it slept
	Last     float64 `json:"last_s"`      // its last answer before that
	LastSaid string  `json:"last_said"`
	Refused  float64 `json:"refused_s"`
	Behind   float64 `json:"behind_s"` // until when somebody before it surely still waited
}

// Verdict is what the checks found.
type Verdict struct {
	Rules       Rules
	Visitors    int
	Joined      int
	NeverJoined int
	Served      int
	LeftLine    int
	NoShows     int
	// MissedTurn are sleepers whose turn may have come before the line could know that
	// they slept; SleptTooLong those silent for longer than a place is kept.
	MissedTurn   int
	SleptTooLong int
	Lost         Losses
	LostExamples []LostExample // the first few that were told to join again
	Inside       Inside
	Order        Order
	Doubles      Doubles
	Gate         Gate
	TakenBack    int // told "waiting" after they had been told that it is their turn
	Rises        int // positions shown that were greater than the one before
	Waits        []time.Duration
}

// Check judges a history. It has no side effects.
func Check(h History, r Rules) Verdict {
	v := Verdict{Rules: r, Visitors: len(h), Inside: countInside(h), Order: judgeOrder(h, r.Heartbeat, r.wiped()), Doubles: countDoubles(h), Gate: judgeGate(h)}
	behind := waitedUntil(faithful(h, r.Heartbeat))
	for i := range h {
		p := &h[i]
		if p.End == Straight {
			continue
		}
		if !p.joined() {
			v.NeverJoined++
			continue
		}
		v.Joined++
		if s, ok := p.turn(-1); ok {
			v.Waits = append(v.Waits, s.Answered-p.Joined.Answered)
		}
		rises, back := p.setbacks()
		v.Rises += rises
		v.TakenBack += back
		v.count(p, behind)
	}
	slices.Sort(v.Waits)
	return v
}

func (v *Verdict) count(p *Visitor, behind func(*Visitor) time.Duration) {
	switch p.End {
	case Served:
		if p.outside() {
			v.Lost.Outside++
			return
		}
		v.Served++
	case LeftLine:
		v.LeftLine++
	case NoShow:
		v.NoShows++
	case Unfinished:
		v.Lost.Unfinished++
	case Refused:
		last := p.lastAnswer()
		due := p.AwayFrom + longestPatience(v.Rules.Heartbeat, last.PollAfter)
		switch {
		case p.Slept && p.Refusal.Answered-last.Sent > v.Rules.KeepPlace:
			v.SleptTooLong++
		case p.Slept && len(p.Claims) == 0 && behind(p) <= due:
			v.MissedTurn++
		default:
			v.Lost.Refused++
			if len(v.LostExamples) < maxExamples {
				v.LostExamples = append(v.LostExamples, LostExample{
					To: p.RefusedTo, Joined: seconds(p.Joined.Answered), Slept: p.Slept, AwayFrom: seconds(p.AwayFrom),
					Last: seconds(last.Answered), LastSaid: last.State.String(), Refused: seconds(p.Refusal.Sent), Behind: seconds(behind(p)),
				})
			}
		}
	}
}

// lastAnswer is the last answer about the visitor's standing.
func (v *Visitor) lastAnswer() Stand {
	if len(v.Stood) == 0 {
		return Stand{Sent: v.Joined.Sent, Answered: v.Joined.Answered}
	}
	return v.Stood[len(v.Stood)-1]
}

// waitedUntil returns a function that says until when somebody before a visitor surely
// still waited, so that its own turn cannot have come sooner; negative if nobody did.
func waitedUntil(line []*Visitor) func(*Visitor) time.Duration {
	slices.SortFunc(line, func(a, b *Visitor) int { return cmp.Compare(a.Joined.Answered, b.Joined.Answered) })
	until := make([]time.Duration, len(line)+1)
	until[0] = -1
	for i, v := range line {
		until[i+1] = max(until[i], v.lastWaiting(always))
	}
	return func(v *Visitor) time.Duration {
		n, _ := slices.BinarySearchFunc(line, v.Joined.Sent, func(a *Visitor, t time.Duration) int {
			return cmp.Compare(a.Joined.Answered, t)
		})
		return until[n]
	}
}

// setbacks counts positions that rose and turns that were taken back.
func (v *Visitor) setbacks() (rises, back int) {
	for i := 1; i < len(v.Stood); i++ {
		before, s := v.Stood[i-1], v.Stood[i]
		if before.Position > 0 && s.Position > before.Position {
			rises++
		}
		if before.State == Admitted && s.State == Waiting {
			back++
		}
	}
	return rises, back
}

func countDoubles(h History) Doubles {
	var d Doubles
	slots := map[string]bool{}
	for i := range h {
		v := &h[i]
		if len(v.Claims) > 0 {
			sub := v.Claims[0].Sub
			if sub != "" && slots[sub] {
				d.SharedSlot++
			}
			slots[sub] = true
			if slices.ContainsFunc(v.Claims, func(c Claim) bool { return c.Sub != sub }) {
				d.OtherSlot++
			}
		}
		switch v.After {
		case Admitted, Active:
			d.TurnAgain++
		case Waiting, Away:
			d.LineAgain++
		}
	}
	return d
}

// DoubleAdmissions is how many tickets broke "a ticket gets in once". A wiped store has
// forgotten who left, so standing in the line again is no breach then.
func (v Verdict) DoubleAdmissions() int {
	n := v.Doubles.OtherSlot + v.Doubles.SharedSlot + v.Doubles.TurnAgain
	if !v.Rules.wiped() {
		n += v.Doubles.LineAgain
	}
	return n
}

// LostVisitors is how many joined and did not end properly.
func (v Verdict) LostVisitors() int { return v.Lost.Refused + v.Lost.Unfinished + v.Lost.Outside }

// Broken names every invariant that did not hold; none = all held.
func (v Verdict) Broken() []string {
	var out []string
	if n, most := v.Inside.Highest, v.Rules.Capacity+v.Rules.AllowOver; v.Rules.Capacity == 0 && n > 0 {
		out = append(out, fmt.Sprintf("capacity: %d people were surely inside at once, and no capacity is known: give --capacity", n))
	} else if n > most {
		out = append(out, fmt.Sprintf("capacity: %d people were surely inside at once, at most %d may be", n, most))
	}
	if n := v.Order.Inversions; n > 0 {
		out = append(out, fmt.Sprintf("order: %d inversions, %d visitors were overtaken", n, v.Order.Overtaken))
	}
	if n := v.DoubleAdmissions(); n > 0 {
		out = append(out, fmt.Sprintf("one turn a ticket: %d double admissions", n))
	}
	if n := v.LostVisitors(); n > 0 {
		text := fmt.Sprintf("nobody is lost: %d were told to join again, %d were not through at the end", v.Lost.Refused, v.Lost.Unfinished)
		if n := v.Lost.Outside; n > 0 {
			text += fmt.Sprintf(", %d claimed and never got to the shop", n)
		}
		out = append(out, text)
	}
	if n := v.NeverJoined; n > 0 {
		out = append(out, fmt.Sprintf("everybody gets a place: %d visitors never got one", n))
	}
	return append(out, v.Gate.broken(v.Rules)...)
}
