package queue

import (
	"sync"
	"time"
)

// memory is what this process knows of a room from the answers it got. It goes along
// with every step, so that a Redis that forgot the room, or a failover that lost a
// reset, is noticed by the first step that follows.
type memory struct {
	mu         sync.Mutex
	generation int64 // highest seen, 0 = none
	flow       flow
}

// memories keeps one memory a room. Rooms come from the rooms file, so it is bounded.
type memories struct{ rooms sync.Map }

func (m *memories) of(room string) *memory {
	if v, ok := m.rooms.Load(room); ok {
		return v.(*memory)
	}
	v, _ := m.rooms.LoadOrStore(room, &memory{})
	return v.(*memory)
}

// saw notes the generation of an answer.
func (m *memory) saw(generation int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generation = max(m.generation, generation)
}

// sampled notes a status and returns the measured time between two admissions.
func (m *memory) sampled(s Status, r Rules) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generation = max(m.generation, s.Generation)
	m.flow.add(s.Now, s.Counters.Admitted, s.Waiting > 0 && s.Held == 0 && !r.Hold)
	return m.flow.perAdmission()
}

// known is what goes along with a step.
type known struct {
	generation int64    // highest seen, 0 = the room was never seen
	plan       PollPlan // of its polls
}

func (m *memory) known(r Rules) known {
	m.mu.Lock()
	defer m.mu.Unlock()
	per := m.flow.perAdmission()
	if per == 0 {
		per = r.Interval
	}
	return known{m.generation, planPolls(per, r.ClaimWindow)}
}
