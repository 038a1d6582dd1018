package queue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MovesChannel is where the steps publish what they did with a room's line.
func MovesChannel(room string) string { return "anteroom:{" + room + "}:moves" }

// Moves is what one step did with a line.
type Moves struct {
	// Mark is how far the line had moved after the step.
	Mark Mark
	// Shifts are the step's own, in their order; the last has the number Mark.Shifts.
	Shifts []Shift
	// Turns are tickets that have to be asked about exactly: it is their turn, they left,
	// moved, or went away.
	Turns []ID
}

// Shift is one ticket that came back to a place in the line, or left it other than at its
// head.
type Shift struct {
	Place int64
	Left  bool // it left; else it came back
}

// By is what the shift adds to the people ahead of a place.
func (s Shift) By(place int64) int64 {
	switch {
	case s.Place >= place:
		return 0
	case s.Left:
		return -1
	default:
		return 1
	}
}

// ErrMoves means a message that no step of this version wrote.
var ErrMoves = errors.New("queue: unreadable message")

// ParseMoves reads a message of MovesChannel: "made popped shifts;±place …;id …".
func ParseMoves(message string) (Moves, error) {
	parts := strings.Split(message, ";")
	if len(parts) != 3 {
		return Moves{}, fmt.Errorf("%w: %d parts", ErrMoves, len(parts))
	}
	var m Moves
	counts := strings.Fields(parts[0])
	if len(counts) != 3 {
		return Moves{}, fmt.Errorf("%w: %d counts", ErrMoves, len(counts))
	}
	for i, to := range []*int64{&m.Mark.Made, &m.Mark.Popped, &m.Mark.Shifts} {
		n, err := strconv.ParseInt(counts[i], 10, 64)
		if err != nil || n < 0 {
			return Moves{}, fmt.Errorf("%w: count %q", ErrMoves, counts[i])
		}
		*to = n
	}
	for text := range strings.FieldsSeq(parts[1]) {
		place, err := strconv.ParseInt(text[1:], 10, 64)
		if err != nil || text[0] != '+' && text[0] != '-' {
			return Moves{}, fmt.Errorf("%w: shift %q", ErrMoves, text)
		}
		m.Shifts = append(m.Shifts, Shift{Place: place, Left: text[0] == '-'})
	}
	for id := range strings.FieldsSeq(parts[2]) {
		m.Turns = append(m.Turns, ID(id))
	}
	return m, nil
}
