package pass

import "time"

// SetClock replaces the clock of r.
func SetClock(r *RemoteKeys, now func() time.Time) { r.now = now }
