package httplimit

import "sync/atomic"

// state tells of a change once, however many see it.
type state struct{ on atomic.Bool }

func (s *state) set(on bool, changed func()) {
	if s.on.Load() != on && s.on.Swap(on) != on {
		changed()
	}
}
