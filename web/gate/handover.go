package gate

import (
	"context"
	"net/http"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
)

// swap redeems a hand-over token for a pass and asks for the same page without the token.
// A pass that the visitor has counts first: a link with another's token must not take it
// away. The token is cut from the address in any case.
func (g *Gate) swap(ctx context.Context, a *Answer, token string) {
	g.admit(ctx, a)
	page := pass.Navigates(a.Request.HTTP())
	if a.Outcome == Through {
		if page {
			a.Outcome = Swap // the token goes out of the address bar; the visitor's own pass stays
		}
		return
	}
	if !page {
		return // a form or a call is not answered with a redirect, and its token is left for a page
	}
	fresh, claims, reason := g.Redeem(ctx, a.Room, token)
	if reason == Handover {
		a.Outcome, a.Reason, a.Claims, a.Token = Swap, Handover, claims, fresh
	} else if a.Reason == NoPass {
		a.Reason = reason
	}
}

// Redeem uses a hand-over token up and returns a pass for its visitor, good until the slot
// ends. The reason is Handover when it does; Used, Ended, StoreAway or NoPass otherwise.
func (g *Gate) Redeem(ctx context.Context, room rooms.Room, token string) (string, pass.Claims, Reason) {
	now := g.now()
	of, err := pass.Verifier{Keys: g.passes.Keys(), Now: g.now}.VerifyHandover(ctx, token, room.Name, 0)
	if err != nil {
		return "", pass.Claims{}, NoPass
	}
	if g.breaker.open.Load() {
		return "", pass.Claims{}, StoreAway
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout) // once a visitor, so it may take its time
	defer cancel()
	first, err := g.line.Redeem(ctx, room.Queue(), of.ID, of.Generation, of.Expires.Sub(now)+2*pass.Leeway)
	if err != nil {
		g.failed(err)
		return "", pass.Claims{}, StoreAway
	}
	if !first {
		return "", pass.Claims{}, Used
	}
	got, err := g.line.Touch(ctx, room.Queue(), []queue.Inside{{ID: queue.ID(of.Visitor), Generation: of.Generation, Ends: of.Expires}})
	if err != nil {
		g.failed(err)
		return "", pass.Claims{}, StoreAway
	}
	at := got[0]
	if at.State != queue.Active {
		return "", pass.Claims{}, Ended
	}
	fresh, claims, err := g.passes.Renew(of, now, now.Add(at.Left))
	if err != nil {
		g.log.Error("a pass could not be signed", "room", room.Name, "error", err)
		return "", pass.Claims{}, NoPass
	}
	return fresh, claims, Handover
}

// renewal is a pass that ends later than the one that was shown, for the visitor's cookie,
// where the slot grew by half a session or more. One that does not arrive does no harm: the
// old pass counts for as long as its slot does.
func (g *Gate) renewal(room *rooms.Room, one *session, now time.Time) string {
	if room.Renew != rooms.RenewSliding {
		return ""
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	ends := one.claims.Expires
	if one.until.Sub(ends) < room.Session/2 {
		return ""
	}
	if one.renewed != "" && one.until.Sub(one.extends) < room.Session/2 {
		return one.renewed
	}
	token, claims, err := g.passes.Renew(one.claims, now, one.until)
	if err != nil {
		g.log.Error("a pass could not be renewed", "room", room.Name, "error", err)
		return ""
	}
	one.renewed, one.extends = token, claims.Expires
	return token
}

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// CookieLife is how long the cookie of Token lasts: as long as the pass may count. In a
// sliding room that is longer than the pass says, for its slot may grow.
func (a Answer) CookieLife(now time.Time) time.Duration {
	life := a.Claims.Expires.Sub(now)
	if a.Room.Renew == rooms.RenewSliding {
		life = max(life, a.Room.MaxSession)
	}
	return max(time.Second, life)
}
