package embedded

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestMoveClock_PassesOnWhatHasPassed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var moved []time.Duration
		stop := make(chan struct{})
		go moveClock(stop, func(d time.Duration) { moved = append(moved, d) })
		time.Sleep(3500 * time.Millisecond) // the bubble's clock
		close(stop)
		synctest.Wait()
		if !slices.Equal(moved, []time.Duration{time.Second, time.Second, time.Second}) {
			t.Errorf("the clock moved by %v in 3.5 s, want three seconds", moved)
		}
	})
}
