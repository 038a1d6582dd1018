package gate

import (
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
)

// Outcome is what to do with a request.
type Outcome int

// The outcomes.
const (
	Through Outcome = iota // let it reach the site
	Queue                  // send the visitor to the queue page
	Swap                   // redirect to the same page without the hand-over token
	Bad                    // refuse: the request makes no sense
)

// Reason says why, from a closed list: it is a metric's label and a header.
type Reason string

// The reasons.
const (
	NoRoom    Reason = "no-room"    // no room protects this address
	Off       Reason = "off"        // the room is switched off
	Exempt    Reason = "exempt"     // the address, method or kind of file costs no place
	Preflight Reason = "preflight"  // a CORS preflight brings no cookies
	HasPass   Reason = "pass"       // a valid pass
	Offline   Reason = "offline"    // a valid pass, and the store is away
	StoreAway Reason = "store-away" // the store is away: by on_store_error
	NoPass    Reason = "no-pass"    // no valid pass was shown
	Ended     Reason = "ended"      // the pass's session was ended: released, left, reset or over
	Handover  Reason = "handover"   // a hand-over token was redeemed
	Used      Reason = "used"       // a hand-over token was used before
	BadPath   Reason = "bad-path"   // the path is malformed
)

// Answer is what the gate says to one request.
type Answer struct {
	Outcome Outcome
	Reason  Reason
	// Room is the room that protects the address; its name is empty where none does.
	Room rooms.Room
	// Claims are those of the pass that let the request through; zero without one.
	Claims pass.Claims
	// Token, if not empty, is a pass to set as the visitor's cookie, good until TokenEnds.
	Token string
	// Request is the request without a hand-over token.
	Request Request
	shown   string // the pass that was judged last
	anew    bool   // what is known of the pass does not do
}
