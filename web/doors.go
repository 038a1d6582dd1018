package web

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/clientkey"
	"github.com/anteroom/anteroom/limit/httplimit"
	"github.com/anteroom/anteroom/limit/memory"
	"github.com/anteroom/anteroom/limit/policy"
	"github.com/anteroom/anteroom/queue"
)

//go:embed doors.yaml
var builtIn []byte

// The policies of our own doors. A policies file may have its own of these names.
const (
	doorJoin   = "door-join"   // before a place is made
	doorPoll   = "door-poll"   // polls of a ticket; counted in this process only
	doorResume = "door-resume" // before a code of a hand-over to another device is tried
)

// doorParts are what each door knows of a request.
var doorParts = map[string][]policy.Part{
	doorJoin:   {policy.Address, policy.Room, policy.Global},
	doorPoll:   {policy.Ticket},
	doorResume: {policy.Address, policy.Room, policy.Global},
}

// pollKeys bounds the tickets whose polls are counted; those that ask most stay.
const pollKeys = 1 << 17

// ErrDoor means a policy for one of our doors that counts by what the door does not know.
var ErrDoor = errors.New("web: unusable policy of a door")

// Limits are the policies in force: those of a file, and the built-in ones of our doors.
// Its methods may be called from any goroutine.
type Limits struct {
	decider   *policy.Decider
	polls     *memory.Store
	set       atomic.Pointer[map[string]*policy.Policy]
	decisions *prometheus.CounterVec
}

// NewLimits makes limits on a store with the built-in policies. secret, at least 16 bytes,
// hides addresses and accounts from the store; servers on one store share it. timeout bounds
// each question to the store; 0 means policy.DefaultTimeout.
func NewLimits(store limit.Store, secret []byte, timeout time.Duration, metrics prometheus.Registerer) (*Limits, error) {
	keys, err := clientkey.NewKeys(secret, 0)
	if err != nil {
		return nil, err
	}
	l := &Limits{
		decider: policy.NewDecider(store, keys, timeout), polls: memory.New(memory.WithMaxKeys(pollKeys)),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anteroom_limit_decisions_total",
			Help: "Decisions of rate limits by policy, rule and outcome: allowed, refused or shadow_refused, with the suffix _local, _open or _closed while the store is away.",
		}, []string{"policy", "rule", "outcome"}),
	}
	metrics.MustRegister(l.decisions)
	return l, l.Set(nil)
}

// limitsInProcess are the built-in doors of a server alone.
func limitsInProcess(metrics prometheus.Registerer) *Limits {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	l, err := NewLimits(memory.New(), secret, 0, metrics)
	if err != nil {
		panic(err) // the built-in policies are tested
	}
	return l
}

// Set puts policies in force, in place of those that Set was given before. The error wraps
// ErrDoor; the old ones then stay.
func (l *Limits) Set(own []*policy.Policy) error {
	all, err := policy.Parse("doors.yaml", builtIn)
	if err != nil {
		return err
	}
	set := map[string]*policy.Policy{}
	for _, p := range slices.Concat(all, own) {
		if err := checkDoor(p); err != nil {
			return err
		}
		set[p.Name] = p
	}
	l.set.Store(&set)
	return nil
}

// ReadLimits reads a file of policies for Set.
func ReadLimits(file string) ([]*policy.Policy, error) {
	all, err := policy.Open(file)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if err := checkDoor(p); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}

// Reload reads the file again and logs what came of it. A bad file keeps the old policies.
func (l *Limits) Reload(file string, log *slog.Logger) {
	all, err := ReadLimits(file)
	if err == nil {
		err = l.Set(all)
	}
	if err != nil {
		log.Error("the limits file was not taken; the old policies stay in force", "error", err)
		return
	}
	log.Info("limits file read", "file", file, "policies", len(all))
}

func checkDoor(p *policy.Policy) error {
	parts, door := doorParts[p.Name]
	if !door {
		return nil
	}
	for _, r := range p.Rules {
		for _, part := range r.Parts {
			if !slices.Contains(parts, part) {
				return fmt.Errorf("%w: %s counts by %s, want %v", ErrDoor, p.Name, part, parts)
			}
		}
	}
	if p.Name == doorPoll && len(p.Rules) != 1 {
		return fmt.Errorf("%w: %s has %d rules, want one by ticket", ErrDoor, p.Name, len(p.Rules))
	}
	return nil
}

func (l *Limits) policy(name string) (*policy.Policy, bool) {
	p, ok := (*l.set.Load())[name]
	return p, ok
}

// decide asks and counts.
func (l *Limits) decide(ctx context.Context, p *policy.Policy, values policy.Values, cost int64) (policy.Verdict, error) {
	v, err := l.decider.Decide(ctx, p, values, cost)
	if err == nil {
		l.count(p, v)
	}
	return v, err
}

func (l *Limits) count(p *policy.Policy, v policy.Verdict) {
	outcome := "refused"
	switch {
	case v.Allowed:
		outcome = "allowed"
	case v.Pass:
		outcome = "shadow_refused"
	}
	if v.Degraded != "" {
		outcome += "_" + strings.TrimPrefix(string(v.Degraded), "fail_")
	}
	l.decisions.WithLabelValues(p.Name, v.Rule, outcome).Inc()
}

// poll counts a poll of a ticket, here only: a question to Redis would cost what it saves.
// Tickets are signed by us, so nobody can make keys up. Only refusals are counted.
func (l *Limits) poll(ctx context.Context, id queue.ID) error {
	p, _ := l.policy(doorPoll)
	d, err := l.polls.All(ctx, []limit.Check{{Limit: p.Rules[0].Limit, Key: string(id), Cost: 1}})
	if err != nil || d.Allowed {
		return err
	}
	v := policy.Verdict{Decision: d, Pass: p.Mode == policy.Shadow}
	l.count(p, v)
	if v.Pass {
		return nil
	}
	refusal := errTooOften
	refusal.RetryAfterS = int(httplimit.RetryAfter(d))
	return refusal
}

// pass is a door by address and room. It answers errBusyDoor where the door refuses.
func (s *Server) pass(r *http.Request, door string, room rooms.Room) error {
	p, _ := s.Limits.policy(door)
	v, err := s.Limits.decide(r.Context(), p, func(part policy.Part) string {
		switch part {
		case policy.Room:
			return room.Name
		case policy.Address:
			if addr := s.proxies.Address(r); addr.IsValid() {
				return addr.String()
			}
			return "::" // all who come without an address, as through a Unix socket, are one
		}
		return ""
	}, 1)
	if err != nil || v.Pass {
		return err
	}
	refusal := errBusyDoor
	refusal.RetryAfterS = int(httplimit.RetryAfter(v.Decision))
	return refusal
}
