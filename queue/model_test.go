package queue_test

import (
	"sort"

	"github.com/anteroom/anteroom/queue"
)

// model is the line as plain Go data: the oracle that the Lua steps are held against.
// It is written from the rules of the design, on a clock in microseconds that it is
// given, and shares no code with the scripts.
type model struct {
	rules queue.Rules

	made                   int64 // µs, 0 = Redis remembers nothing
	last                   int64 // place
	gen                    int64
	restored, polled, hold int64 // ms
	paceBound              bool
	tat                    int64 // µs

	waiting map[queue.ID]int64 // place
	active  map[queue.ID]int64 // end, ms
	spent   map[queue.ID]bool
	present map[queue.ID]int64 // ms until which a ticket counts as present
	forget  map[queue.ID]int64 // ms at which the alive key runs out
}

func newModel(r queue.Rules) *model {
	m := &model{rules: r}
	m.wipe()
	return m
}

// wipe is what FLUSHALL does.
func (m *model) wipe() {
	m.made, m.last, m.restored, m.polled, m.hold, m.tat, m.paceBound = 0, 0, 0, 0, 0, 0, false
	m.waiting, m.active, m.spent = map[queue.ID]int64{}, map[queue.ID]int64{}, map[queue.ID]bool{}
	m.present, m.forget = map[queue.ID]int64{}, map[queue.ID]int64{}
}

func (m *model) ms(now int64) int64 { return now / 1000 }

// begin is what every step does first: a room that Redis forgot, but this process knew,
// is held until its line has re-formed.
func (m *model) begin(now int64) {
	for id, end := range m.forget {
		if end <= m.ms(now) {
			delete(m.forget, id)
			delete(m.present, id)
		}
	}
	if m.made != 0 {
		return
	}
	m.made, m.polled = now, m.ms(now)
	if m.gen > 0 {
		m.reform(now)
	} else {
		m.gen = 1
	}
}

// reform holds admission for the longest time in which a page asks, and a second.
func (m *model) reform(now int64) { m.restored, m.hold = m.ms(now), m.ms(now)+21_000 }

// silent tells whether nobody was answered for so long that it must have been an outage.
func (m *model) silent(now int64) bool {
	return m.ms(now)-m.polled > max(m.rules.Heartbeat.Milliseconds(), 21_000)
}

func (m *model) answered(now int64) {
	if m.silent(now) && len(m.waiting) > 0 {
		m.reform(now)
	}
	m.polled = m.ms(now)
}

func (m *model) beat(now int64, id queue.ID, ahead int64) {
	present := max(m.rules.Heartbeat.Milliseconds(), 3*pollInterval(ahead))
	m.present[id] = m.ms(now) + present
	m.forget[id] = m.ms(now) + max(m.rules.KeepPlace.Milliseconds(), present)
}

// pollInterval repeats the plan for the rates and the claim window of these tests, in ms.
func pollInterval(ahead int64) int64 { return max(2000, min(ahead*testPerAhead/1000, 4000)) }

func (m *model) line() []queue.ID {
	ids := make([]queue.ID, 0, len(m.waiting))
	for id := range m.waiting {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool {
		a, b := m.waiting[ids[i]], m.waiting[ids[j]]
		return a < b || a == b && ids[i] < ids[j]
	})
	return ids
}

func (m *model) ahead(id queue.ID) int64 {
	var n int64
	for other, place := range m.waiting {
		if place < m.waiting[id] || place == m.waiting[id] && other < id {
			n++
		}
	}
	return n
}

func (m *model) inside(now int64, id queue.ID) queue.State {
	if m.active[id] <= m.ms(now) {
		return ""
	}
	if m.spent[id] {
		return queue.Active
	}
	return queue.Admitted
}

func (m *model) mayReturn(now int64, t queue.Ticket) bool {
	if _, held := m.active[t.ID]; held || m.spent[t.ID] {
		return false
	}
	if now-t.Place >= 24*3600*1e6 {
		return false
	}
	if t.Place < m.made && m.restored < m.ms(m.made) {
		m.reform(now)
	}
	keep, place := m.rules.KeepPlace.Milliseconds(), t.Place/1000
	_, alive := m.present[t.ID]
	return m.ms(now)-place < keep || m.restored > place && m.ms(now)-m.restored < keep || alive
}

func (m *model) put(t queue.Ticket) {
	m.waiting[t.ID] = t.Place
	m.last = max(m.last, t.Place)
}

func (m *model) join(now int64, id queue.ID) (queue.State, int64) {
	m.begin(now)
	m.answered(now)
	if place, ok := m.waiting[id]; ok {
		m.beat(now, id, m.ahead(id))
		return queue.Waiting, place
	}
	if s := m.inside(now, id); s != "" {
		return s, 0
	}
	if _, held := m.active[id]; held || m.spent[id] {
		return queue.Expired, 0
	}
	place := max(now, m.last+1)
	m.last = place
	if len(m.waiting) == 0 {
		m.paceBound = false
		free, allowed := len(m.active) < m.places(), m.paceAllows(now)
		if free && allowed > 0 && m.ms(now) >= m.hold {
			m.admitPace(now, 1)
			m.active[id] = m.ms(now) + m.rules.ClaimWindow.Milliseconds()
			return queue.Admitted, place
		}
		m.paceBound = free && allowed == 0
	}
	m.put(queue.Ticket{ID: id, Place: place})
	m.beat(now, id, m.ahead(id))
	return queue.Waiting, place
}

func (m *model) poll(now int64, t queue.Ticket) (queue.State, int64) {
	if t.Generation != m.gen {
		return queue.Foreign, 0
	}
	if _, ok := m.waiting[t.ID]; !ok {
		if s := m.inside(now, t.ID); s != "" {
			return s, 0
		}
		if !m.mayReturn(now, t) {
			return queue.Expired, 0
		}
		m.put(t)
	}
	m.beat(now, t.ID, m.ahead(t.ID))
	return queue.Waiting, m.ahead(t.ID)
}

func (m *model) claim(now int64, t queue.Ticket) queue.State {
	m.begin(now)
	if t.Generation != m.gen {
		return queue.Foreign
	}
	switch s := m.inside(now, t.ID); s {
	case queue.Admitted:
		m.active[t.ID] = m.ms(now) + m.rules.Session.Milliseconds()
		m.spent[t.ID] = true
		return queue.Active
	case queue.Active:
		return s
	}
	if _, ok := m.waiting[t.ID]; ok || m.mayReturn(now, t) {
		return queue.Waiting
	}
	return queue.Expired
}

func (m *model) leave(now int64, t queue.Ticket) queue.State {
	m.begin(now)
	if t.Generation != m.gen {
		return queue.Foreign
	}
	s := m.inside(now, t.ID)
	if s == "" {
		s = queue.Expired
	}
	if _, ok := m.waiting[t.ID]; ok {
		s = queue.Waiting
	}
	delete(m.waiting, t.ID)
	delete(m.active, t.ID)
	delete(m.present, t.ID)
	delete(m.forget, t.ID)
	m.spent[t.ID] = true
	return s
}

func (m *model) away(now int64, id queue.ID) {
	m.begin(now)
	if _, ok := m.waiting[id]; ok {
		if _, alive := m.present[id]; alive {
			m.present[id] = m.ms(now) - 1
		}
	}
}

func (m *model) reset(now int64) {
	m.begin(now)
	m.gen++
	m.hold, m.paceBound, m.tat = 0, false, 0
	m.waiting, m.active, m.spent = map[queue.ID]int64{}, map[queue.ID]int64{}, map[queue.ID]bool{}
}

func (m *model) paceTime(now int64) int64 {
	tat := min(m.tat, now+m.rules.Interval.Microseconds()*int64(m.rules.Burst))
	if m.paceBound {
		return max(tat, now-queue.Slack.Microseconds())
	}
	return max(tat, now)
}

func (m *model) paceAllows(now int64) int64 {
	t := m.rules.Interval.Microseconds()
	return max(0, (now+t*int64(m.rules.Burst)-m.paceTime(now))/t)
}

func (m *model) admitPace(now, n int64) {
	m.tat = m.paceTime(now) + n*m.rules.Interval.Microseconds()
}

// places is how many may be inside as far as letting in goes.
func (m *model) places() int {
	if m.rules.Hold {
		return 0
	}
	return m.rules.Capacity
}

// admit returns who was let in, in order, and who was passed over.
func (m *model) admit(now int64) (in, passed []queue.ID) {
	m.begin(now)
	for id, end := range m.active {
		if end <= m.ms(now) {
			delete(m.active, id)
			m.spent[id] = true
		}
	}
	allowed, capacity := m.paceAllows(now), int64(m.places())
	stopped := m.ms(now) < m.hold || m.silent(now)
	for _, id := range m.line() {
		if stopped || int64(len(in)) >= allowed || int64(len(m.active)) >= capacity {
			break
		}
		delete(m.waiting, id)
		if present, alive := m.present[id]; !alive || present < m.ms(now) {
			passed = append(passed, id)
			continue
		}
		in = append(in, id)
		delete(m.present, id)
		delete(m.forget, id)
		m.active[id] = m.ms(now) + m.rules.ClaimWindow.Milliseconds()
	}
	if len(in) > 0 {
		m.admitPace(now, int64(len(in)))
	}
	m.paceBound = !stopped && len(m.waiting) > 0 && int64(len(m.active)) < capacity && m.paceAllows(now) == 0
	return in, passed
}
