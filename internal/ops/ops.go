// Package ops serves what only the people who run Anteroom may see: metrics and profiles,
// on a listener of its own.
package ops

import (
	"context"
	"errors"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// NewRegistry has the collectors of the Go runtime and the process.
func NewRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// Check says why the process is not ready, or nil. It obeys ctx.
type Check func(ctx context.Context) error

// readyTimeout is how long all checks together may take.
const readyTimeout = 2 * time.Second

// NewServer serves /metrics, /debug/pprof, /healthz, which answers while the process lives,
// and /readyz, which is 503 with the reasons, one a line, while a check has one.
func NewServer(reg *prometheus.Registry, checks ...Check) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, r *http.Request) { ready(w, r, checks) })
	mux.Handle("/metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
}

func ready(w http.ResponseWriter, r *http.Request, checks []Check) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	var found []error
	for _, check := range checks {
		found = append(found, check(ctx))
	}
	if err := errors.Join(found...); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}
