package gate_test

import (
	"errors"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/web/gate"
)

// A room that is closed lets nobody in while the store is away either.
func TestGate_StoreAwayAdmitsNobodyIntoAClosedRoom(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"state: closed", "opens: 2100-01-01T00:00:00Z"} {
		d := newDoor(t, redistest.Embedded(t), "    on_store_error: admit\n    "+state+"\n")
		token, _, err := d.passes.Sign(d.room.Name, "visitor-00000000000001", 1, time.Now(), time.Now().Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		d.line.fail(errors.New("away"))
		d.ahead = 2 * time.Second
		d.want("a pass", d.get("/sale", token), gate.Through, gate.Offline)
		for range 20 {
			d.want("no pass", d.get("/sale", ""), gate.Queue, gate.StoreAway)
		}
	}
}

// A visitor whose session slid on and who then left posts nothing more, though the first
// pass has run out by itself meanwhile.
func TestGate_WhoLeftPostsNothingMore(t *testing.T) {
	t.Parallel()
	d := newDoor(t, redistest.Embedded(t), "    session: 3s\n")
	token, claims := d.enter("visitor-00000000000001")
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(claims.Expires.Add(500 * time.Millisecond)) {
		d.want("active", d.get("/sale", token), gate.Through, gate.HasPass)
		<-tick.C
	}
	if _, err := d.line.Release(t.Context(), d.room.Queue(), "visitor-00000000000001"); err != nil {
		t.Fatal(err)
	}
	d.ahead = 1100 * time.Millisecond
	d.want("a form after leaving", d.ask("POST", "/sale", token), gate.Queue, gate.Ended)
}

// A slot that is known to live outlives an outage, also past the end of the first pass.
func TestGate_AKnownSlotOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	d := newDoor(t, redistest.Embedded(t), "    session: 10s\n")
	token, claims := d.enter("visitor-00000000000001")
	d.ahead = 9 * time.Second // the touch lengthens the slot to 10 s from the line's now
	d.want("active", d.get("/sale", token), gate.Through, gate.HasPass)
	d.line.fail(errors.New("away"))
	d.ahead = time.Until(claims.Expires) + pass.Leeway + time.Second
	d.want("past the pass's own end", d.get("/sale", token), gate.Through, gate.Offline)
}

// A link with another visitor's hand-over does not take a good pass away, and is left whole.
func TestGate_AHandoverReplacesNoPass(t *testing.T) {
	t.Parallel()
	d := newDoor(t, redistest.Embedded(t), "")
	mine, _ := d.enter("visitor-00000000000001")
	_, theirs := d.enter("visitor-00000000000002")
	token, _, err := d.passes.SignHandover(theirs, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a := d.get(pass.AddHandover("/sale", token), mine)
	d.want("with a pass of its own", a, gate.Swap, gate.HasPass)
	if a.Token != "" || a.Claims.Visitor != "visitor-00000000000001" {
		t.Errorf("the visitor became %s", a.Claims.Visitor)
	}
	d.want("a form", d.ask("POST", pass.AddHandover("/sale", token), ""), gate.Queue, gate.NoPass)
	d.want("the page itself", d.get(pass.AddHandover("/sale", token), ""), gate.Swap, gate.Handover)
}
