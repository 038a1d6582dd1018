package people

import "time"

// How long a session lasts. An operator's evening fits into one.
const (
	SessionIdle = 30 * time.Minute // without a request
	SessionLife = 12 * time.Hour   // whatever happens
	HalfLife    = 5 * time.Minute  // between the password and the code
	seenEvery   = time.Minute      // how exactly the last request is known
)

// Session is what the server knows of a browser that signed in.
type Session struct {
	Account string // id
	Epoch   int64  // the account's when it signed in
	Born    time.Time
	Seen    time.Time
}

// Over tells why a session of an account has ended, "" while it has not.
func (s Session) Over(a Account, now time.Time) string {
	switch {
	case a.Disabled:
		return "disabled"
	case s.Epoch != a.Epoch:
		return "ended"
	case !now.Before(s.Born.Add(SessionLife)):
		return "too old"
	case !now.Before(s.Seen.Add(SessionIdle)):
		return "idle"
	}
	return ""
}

// Stale tells that the last request has to be written down.
func (s Session) Stale(now time.Time) bool { return now.Sub(s.Seen) >= seenEvery }
