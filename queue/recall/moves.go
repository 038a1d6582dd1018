package recall

import (
	"sync"

	"github.com/anteroom/anteroom/queue"
)

const (
	keptShifts = 1 << 16 // of a room; a ticket that polls in time needs the last few
	mostShifts = 4096    // between two answers of a ticket; more cost more than asking
)

// moves are the latest shifts of a line, as they were announced, without a gap.
type moves struct {
	mu    sync.RWMutex
	made  int64
	first int64 // number of log[0]
	log   []queue.Shift
}

// add takes a message. After a gap the log begins anew.
func (m *moves) add(told queue.Moves) {
	m.mu.Lock()
	defer m.mu.Unlock()
	begins := told.Mark.Shifts - int64(len(told.Shifts)) + 1
	if told.Mark.Made != m.made || begins != m.first+int64(len(m.log)) {
		m.made, m.first, m.log = told.Mark.Made, begins, nil
	}
	m.log = append(m.log, told.Shifts...)
	if extra := len(m.log) - keptShifts; extra > keptShifts/4 {
		m.log = append([]queue.Shift(nil), m.log[extra:]...)
		m.first += int64(extra)
	}
}

// between is what the shifts after one mark, up to another, add to the people ahead of a
// place; false when not all of them were heard, or they are too many.
func (m *moves) between(from, to queue.Mark, place int64) (by int64, ok bool) {
	if from.Shifts == to.Shifts {
		return 0, true
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	begin, end := from.Shifts+1-m.first, to.Shifts+1-m.first
	if m.made != to.Made || begin < 0 || end > int64(len(m.log)) || end-begin > mostShifts || end < begin {
		return 0, false
	}
	for _, s := range m.log[begin:end] {
		by += s.By(place)
	}
	return by, true
}
