package rehearse

import (
	"fmt"
	"time"
)

// Reason is why a visitor loaded the shop's page.
type Reason uint8

// The reasons.
const (
	Arrival Reason = iota // without a pass, to be sent to the line
	Entry                 // after its claim
	Stay                  // while inside
	Return                // after its release, with the old pass
)

// Visit is one load of the shop's page, redirects included, that came to a page.
type Visit struct {
	Sent, Answered time.Duration // the first request, the last answer
	Why            Reason
	Repeated       bool   // a load of the same kind had failed right before
	AtShop         bool   // the shop answered, not the queue page
	Asked, Got     string // path and query: that the visitor wanted, that the shop was asked for
}

// Gate is what is known about the gate. All but Visits count visitors.
type Gate struct {
	Entered  int `json:"entered"`  // got to the shop by a claim
	Visits   int `json:"visits"`   // page loads with a pass, entries included
	Returned int `json:"returned"` // loaded the page after their release

	LostQuery   int `json:"-"` // the shop was asked for something else than the visitor wanted
	ThrownOut   int `json:"-"` // got the queue page while their session surely lasted
	StillIn     int `json:"-"` // got the shop's page later than grace after their release
	NeverQueued int `json:"-"` // got the shop's page without a pass

	Examples []GateExample `json:"examples"` // the first few of each
}

// GateExample is the evidence of one breach at the gate.
type GateExample struct {
	What  string  `json:"what"` // lost_query, thrown_out, still_in or never_queued
	At    float64 `json:"at_s"`
	Asked string  `json:"asked"`
	Got   string  `json:"got"` // what the shop was asked for; empty = the queue page came
}

// judgeGate counts breaches at the gate, each visitor once for each kind.
func judgeGate(h History) Gate {
	g := Gate{Examples: []GateExample{}}
	for i := range h {
		p := &h[i]
		var lost, out, in bool
		for _, v := range p.Visits {
			switch v.Why {
			case Entry, Stay:
				g.Visits++
			case Return:
				g.Returned++
			}
			g.breach(&lost, "lost_query", &g.LostQuery, v, v.AtShop && v.Got != v.Asked)
			g.breach(&out, "thrown_out", &g.ThrownOut, v, p.thrownOut(v))
			g.breach(&in, "still_in", &g.StillIn, v, v.Why == Return && v.AtShop && v.Sent >= p.Release.Answered+grace)
			g.breach(new(bool), "never_queued", &g.NeverQueued, v, v.Why == Arrival && v.AtShop)
		}
		if p.entered() {
			g.Entered++
		}
	}
	return g
}

// breach counts a visitor once and keeps the first few visits as examples.
func (g *Gate) breach(before *bool, what string, count *int, v Visit, broke bool) {
	if !broke || *before {
		return
	}
	*before = true
	if *count++; *count <= maxExamples {
		g.Examples = append(g.Examples, GateExample{What: what, At: seconds(v.Answered), Asked: v.Asked, Got: v.Got})
	}
}

// thrownOut tells whether a visit came to the queue page though the visitor had a pass and
// its session surely lasted. A repeated entry may have used its token up.
func (v *Visitor) thrownOut(at Visit) bool {
	if at.AtShop || at.Why != Stay && (at.Why != Entry || at.Repeated) {
		return false
	}
	for _, c := range v.Claims {
		if c.Answered <= at.Sent && at.Answered < c.Sent+c.Expires-doubt {
			return true
		}
	}
	return false
}

// entered tells whether the visitor got to the shop by its claim.
func (v *Visitor) entered() bool {
	for _, at := range v.Visits {
		if at.Why == Entry && at.AtShop {
			return true
		}
	}
	return false
}

// outside tells whether the visitor walked to the shop, claimed, and never got in.
func (v *Visitor) outside() bool { return len(v.Visits) > 0 && !v.entered() }

// broken names the breaches. A wiped store has forgotten who left: a pass that comes back
// takes its slot again, which is no breach then.
func (g *Gate) broken(r Rules) []string {
	stillIn := g.StillIn
	if r.wiped() {
		stillIn = 0
	}
	var out []string
	for _, b := range []struct {
		count  int
		format string
	}{
		{g.LostQuery, "nothing of the address is lost: %d visitors reached the shop at another path or query"},
		{g.ThrownOut, "a pass opens the shop: %d visitors got the queue page while their session lasted"},
		{stillIn, "who left is out: %d visitors got the shop's page more than " + grace.String() + " after their release"},
	} {
		if b.count > 0 {
			out = append(out, fmt.Sprintf(b.format, b.count))
		}
	}
	if n := g.NeverQueued; n > 0 && !r.AllowStraight {
		out = append(out, fmt.Sprintf("nobody passes the line: %d visitors got the shop's page without a pass", n))
	}
	return out
}
