package web

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom/queue"
)

// meter slows tickets that ask far more often than any page is told to. It is a GCRA a
// slot, in fixed memory; tickets that share a slot share its rate, which honest ones are
// far below: two in one slot ask once a second together. Who is slowed keeps the place,
// because the polls that get through renew it.
type meter struct {
	seed  maphash.Seed
	slots [1 << 17]atomic.Int64 // when the next poll is due at the steady rate, ns of the process's clock
	began time.Time
}

const (
	meterEvery = 250 * time.Millisecond // between two polls at the steady rate
	meterBurst = 8                      // polls at one instant
)

func newMeter() *meter { return &meter{seed: maphash.MakeSeed(), began: time.Now()} }

// allow reports whether a ticket may ask now, and else when to try again.
func (m *meter) allow(id queue.ID) (bool, time.Duration) {
	slot := &m.slots[maphash.String(m.seed, string(id))%uint64(len(m.slots))]
	for {
		now, before := int64(time.Since(m.began)), slot.Load()
		next := max(now, before) + int64(meterEvery)
		if wait := next - now - meterBurst*int64(meterEvery); wait > 0 {
			return false, time.Duration(wait)
		}
		if slot.CompareAndSwap(before, next) {
			return true, 0
		}
	}
}
