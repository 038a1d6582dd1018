package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/internal/proof"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/limit/clientkey"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web/gate"
)

// Line is what the handlers ask of the line. Each call has a deadline; errors wrap
// queue.ErrStore; every step may be repeated.
type Line interface {
	Join(ctx context.Context, room queue.Room, id queue.ID, shown *queue.Ticket) (queue.Joined, error)
	Claim(ctx context.Context, room queue.Room, t queue.Ticket) (queue.Standing, error)
	Touch(ctx context.Context, room queue.Room, passes []queue.Inside) ([]queue.Standing, error)
	Leave(ctx context.Context, room queue.Room, t queue.Ticket) (queue.State, error)
	Release(ctx context.Context, room queue.Room, id queue.ID) (queue.State, error)
	Redeem(ctx context.Context, room queue.Room, token string, generation int64, keep time.Duration) (bool, error)
	Away(ctx context.Context, room queue.Room, id queue.ID) error
	Offer(ctx context.Context, room queue.Room, t queue.Ticket, code string, lasts time.Duration) (queue.State, error)
	Move(ctx context.Context, room queue.Room, code string, id queue.ID) (queue.Joined, error)
}

// Poller answers one poll; queue.Group groups them. It bounds its own time: a visitor whose
// store hangs is answered within half a second.
type Poller interface {
	Poll(ctx context.Context, room queue.Room, t queue.Ticket) (queue.Standing, error)
}

// Statuses has a recent status of a room.
type Statuses interface {
	Last(room string) (queue.Status, bool)
}

// Rooms has the rooms in force.
type Rooms interface {
	Get(name string) (rooms.Room, bool)
	All() []rooms.Room
}

// Config is what a Server is made of. All fields without "optional" are required.
type Config struct {
	Line     Line
	Polls    Poller
	Statuses Statuses
	Rooms    Rooms
	Tickets  *queue.Signer
	// Gate, optional, is asked by proxies and goes before the sites of rooms with an origin.
	Gate   *gate.Gate
	Passes *pass.Signer
	// PublicURL is the address that visitors know, such as https://queue.example. Its
	// scheme decides whether cookies are Secure.
	PublicURL *url.URL
	// TrustedProxies may ask the gate about other requests and name their visitors' addresses.
	TrustedProxies []netip.Prefix
	// Limits, optional, are those of our doors and of /v1/limits. Without it this server counts
	// for itself, by the built-in policies.
	Limits *Limits
	// APIKeys are what origins show to release a visitor or check a limit; none refuses all.
	APIKeys []string
	// Ready is asked by /readyz.
	Ready func(ctx context.Context) error
	// Preview shows the states of a room's page with invented data at /r/{room}/preview.
	Preview bool
	// Home, optional, answers every other path: the demo shop.
	Home http.Handler
	Log  *slog.Logger
	// Metrics takes the HTTP metrics.
	Metrics prometheus.Registerer
	// StoreTimeout bounds each call to the line; default 400 ms.
	StoreTimeout time.Duration
}

// Server answers HTTP. It is safe for concurrent use and owns no goroutine.
type Server struct {
	Config
	metrics  httpMetrics
	apiKeys  [][32]byte
	origins  origins
	proxies  clientkey.Proxies
	proofs   *proof.Issuer
	ownPages ownPages // that operators wrote
}

// New makes a server; Handler serves it.
func New(c Config) *Server {
	if c.StoreTimeout == 0 {
		c.StoreTimeout = 400 * time.Millisecond
	}
	s := &Server{Config: c, metrics: newHTTPMetrics(c.Metrics), apiKeys: hashKeys(c.APIKeys), proxies: clientkey.Listed(c.TrustedProxies)}
	if s.Limits == nil {
		s.Limits = limitsInProcess(c.Metrics)
	}
	if c.Tickets != nil {
		s.proofs = proof.New(c.Tickets.Key("proof"))
	}
	return s
}

// store gives a handler's context the deadline of one call to the line.
func (s *Server) store(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.Context(), s.StoreTimeout)
}
