package rehearse

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// sparkWidth is the most columns of the picture of people inside.
const sparkWidth = 60

// lateCrowd is a scheduling lag, in seconds, from which the crowd was weaker than planned.
const lateCrowd = 0.5

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	row := func(name, format string, values ...any) {
		fmt.Fprintf(&b, "  %-18s %s\n", name, fmt.Sprintf(format, values...))
	}
	fmt.Fprintf(&b, "Rehearsal of room %q %s\n\n", r.Room, r.where())
	row("run", "%.1f s, seed %d%s", r.Seconds, r.Seed, when(r.Interrupted, ", INTERRUPTED"))
	row("joined", "%d of %d", r.Joined, r.Visitors)
	if len(r.Through) > 0 {
		row("at the shop", "%d by a claim; %d page loads with a pass, %d after the release", r.Gate.Entered, r.Gate.Visits, r.Gate.Returned)
	}
	row("waits", "p50 %.1f s   p95 %.1f s   max %.1f s", r.Waits.P50, r.Waits.P95, r.Waits.Max)
	row("ended", "%s", r.ends())
	columns, each := squeeze(r.InsideBySecond, sparkWidth)
	row("inside over time", "|%s|  a column is %d s, a full one %d people", sparkline(columns, r.Capacity), each, r.Capacity)
	row("requests", "%d, and %d probes; %.1f a visitor", r.Requests-r.Probes, r.Probes, r.RequestsAVisitor)
	row("told to join again", "%d times", r.Refusals)
	row("faults", "%s", r.faults())
	row("scheduling lag", "p50 %.0f ms   p99 %.0f ms   max %.0f ms%s", 1000*r.Lag.P50, 1000*r.Lag.P99, 1000*r.Lag.Max,
		when(r.Lag.P99 > lateCrowd, "   LATE: this machine could not play the crowd as planned"))
	row("turns taken back", "%d", r.TakenBack)
	row("positions that rose", "%d", r.PositionRises)

	b.WriteString("\nInvariants\n\n")
	row("highest inside", "%d of %d (capacity by the %s), at %.1f s; at most %d are possible", r.HighestInside, r.Capacity, r.CapacityFrom, r.HighestAt, r.HighestPossible)
	row("inversions", "%d pairs, %d overtaken, among %d comparable visitors", r.Inversions, r.Overtaken, r.Comparable)
	for _, e := range r.Examples {
		row("", "joined by %.3f s, told to wait at %.3f s (and last before that at %.3f s);\n%21sa later one joined at %.3f s and was told its turn at %.3f s", e.Joined, e.Waiting, e.Asked, "", e.LaterJoined, e.LaterTurn)
	}
	row("double admissions", "%d (other slot %d, shared slot %d, turn again %d, in line again %d)", r.DoubleAdmissions,
		r.Doubles.OtherSlot, r.Doubles.SharedSlot, r.Doubles.TurnAgain, r.Doubles.LineAgain)
	row("lost", "%d (told to join again %d, not through at the end %d, never got to the shop %d)", r.Lost, r.Losses.Refused, r.Losses.Unfinished, r.Losses.Outside)
	for _, e := range r.LostExamples {
		row("", "joined by %.3f s, told %q at %.3f s, to join again at %.3f s (%s)%s", e.Joined, e.LastSaid, e.Last, e.Refused, e.To,
			when(e.Slept, fmt.Sprintf(";\n%21sasleep from %.3f s, somebody before it waited until %.3f s", "", e.AwayFrom, e.Behind)))
	}
	r.gate(row)
	b.WriteString(r.allowance())
	b.WriteString(r.conclusion())
	_, err := io.WriteString(w, b.String())
	return err
}

// where says what was rehearsed.
func (r *Report) where() string {
	if len(r.Through) > 0 {
		return "through the gate of " + strings.Join(r.Through, ", ")
	}
	return "at " + strings.Join(r.URLs, ", ")
}

// gate writes the invariants of a walk through the gate.
func (r *Report) gate(row func(name, format string, values ...any)) {
	if len(r.Through) == 0 {
		return
	}
	row("lost query", "%d", r.LostQuery)
	row("thrown out", "%d", r.ThrownOut)
	row("still in", "%d, %s after the release", r.StillIn, grace)
	row("never queued", "%d%s", r.NeverQueued, when(r.Straight, " (allowed)"))
	for _, e := range r.Gate.Examples {
		got := "the queue page came"
		if e.Got != "" {
			got = "the shop was asked for " + e.Got
		}
		row("", "%s at %.3f s: wanted %s, %s", e.What, e.At, e.Asked, got)
	}
}

func when(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}

func (r *Report) ends() string {
	text := fmt.Sprintf("served %d, left the line %d, no-show %d", r.Ended.Served, r.Ended.LeftLine, r.Ended.NoShow)
	if n := r.Ended.MissedTurn; n > 0 {
		text += fmt.Sprintf(", missed the turn asleep %d", n)
	}
	if n := r.Ended.SleptTooLong; n > 0 {
		text += fmt.Sprintf(", slept too long %d", n)
	}
	return text
}

func (r *Report) faults() string {
	if len(r.Faults) == 0 {
		return "none"
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(r.Faults)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, r.Faults[kind]))
	}
	return strings.Join(parts, ", ")
}

// allowance says plainly what --allow-over let pass.
func (r *Report) allowance() string {
	if r.AllowOver == 0 {
		return ""
	}
	text := fmt.Sprintf("\nThis run was allowed up to %d people above capacity, because its store was wiped: ", r.AllowOver)
	if over := r.HighestInside - r.Capacity; over > 0 {
		text += fmt.Sprintf("%d above were seen.\n", over)
	} else {
		text += "none above were seen.\n"
	}
	if r.Straddling > 0 {
		text += fmt.Sprintf("%d more inversions are explained by one wipe at about %.1f s, which made the store forget turns\nthat it had given; they are not counted.\n", r.Straddling, r.WipedAt)
	}
	if n := r.Doubles.LineAgain; n > 0 {
		text += fmt.Sprintf("%d who had left stood in the line again; a wiped store does not know, and they are not counted.\n", n)
	}
	if n := r.StillIn; n > 0 {
		text += fmt.Sprintf("%d who had left were still in by their pass, for the same reason, and are not counted.\n", n)
	}
	return text
}

func (r *Report) conclusion() string {
	if len(r.Broken) == 0 {
		return "\nHELD: every invariant held.\n"
	}
	return "\nBROKEN:\n  " + strings.Join(r.Broken, "\n  ") + "\n"
}
