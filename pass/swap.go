package pass

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// redeemTimeout bounds the swap of a token for a pass. It happens once a visitor.
const redeemTimeout = 2 * time.Second

// maxCookie is the longest life of a cookie: browsers cut it there.
const maxCookie = 400 * 24 * time.Hour

// swap answers a page load whose address had a hand-over token; r has it no more. A token
// that brings no pass counts for nothing, and the request is judged by what else it shows.
func (g *gate) swap(w http.ResponseWriter, r *http.Request, token string, shown []string) {
	site := g.siteOf(r)
	fresh, err := g.redeem(r.Context(), token)
	if err == nil {
		http.SetCookie(w, g.cookie(fresh, site)) // adds to those of others
		again(w, r, site)
		return
	}
	g.logSwap(r.Context(), err)
	if g.exempt(r) {
		again(w, r, site)
		return
	}
	if _, ok := g.admitted(r, shown); ok {
		again(w, r, site)
		return
	}
	g.refusal.Serve(w, r, site)
}

// again sends the browser to the same page without the token.
func again(w http.ResponseWriter, r *http.Request, site string) {
	location := requestURI(r)
	if strings.HasPrefix(location, "//") || strings.HasPrefix(location, `/\`) {
		location = site + location // else it would name another host
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Location", location) // http.Redirect would tidy the path
	w.WriteHeader(http.StatusFound)
}

// redeemed is Anteroom's answer to a token.
type redeemed struct {
	Pass       string `json:"pass"`
	ExpiresInS int64  `json:"expires_in_s"`
}

// redeem swaps a token for a pass. What is no token of this room is not sent, so that made
// up ones cost Anteroom nothing; what comes back is a good pass.
func (g *gate) redeem(ctx context.Context, token string) (redeemed, error) {
	if _, err := g.Verifier.VerifyHandover(ctx, token, g.Room, g.minimum()); err != nil {
		return redeemed{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, redeemTimeout)
	defer cancel()
	var fresh redeemed
	err := post(ctx, g.Client, g.redeems, map[string]string{"token": token}, &fresh)
	if err != nil {
		return redeemed{}, fmt.Errorf("%w: %w", errRedeem, err)
	}
	if _, err := g.Verifier.Verify(ctx, fresh.Pass, g.Room, g.minimum()); err != nil {
		return redeemed{}, fmt.Errorf("%w: the pass that came back: %w", errRedeem, err)
	}
	return fresh, nil
}

var errRedeem = errors.New("pass: hand-over token not redeemed")

// logSwap warns of what an operator can mend. A bad token and a used one are every day's.
func (g *gate) logSwap(ctx context.Context, err error) {
	var status errStatus
	if !errors.Is(err, errRedeem) || errors.As(err, &status) && status == http.StatusConflict || ctx.Err() != nil {
		g.Logger.DebugContext(ctx, "hand-over refused", "room", g.Room, "error", err)
		return
	}
	g.Logger.WarnContext(ctx, "hand-over failed", "room", g.Room, "error", err)
}

// cookie carries a pass on this site. Lax: it comes along when the visitor returns from a
// payment page by a link or a redirect.
func (g *gate) cookie(fresh redeemed, site string) *http.Cookie {
	most := int64(maxCookie / time.Second)
	life := max(1, min(most, max(fresh.ExpiresInS, int64(g.MaxSession/time.Second))))
	return &http.Cookie{ //nolint:gosec // Secure on https: a site on plain http must work
		Name: g.CookieName, Value: fresh.Pass, Path: "/", MaxAge: int(life),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(site, "https://"),
	}
}
