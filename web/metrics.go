package web

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type httpMetrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newHTTPMetrics(reg prometheus.Registerer) httpMetrics {
	m := httpMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anteroom_http_requests_total", Help: "Requests by method, route template and status.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "anteroom_http_request_seconds", Help: "Duration of requests by route template.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 3, 9),
		}, []string{"route"}),
	}
	reg.MustRegister(m.requests, m.seconds)
	return m
}

// observe takes methods from a closed list, so that a client cannot grow the labels.
func (m httpMetrics) observe(method, route string, status int, took time.Duration) {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
	default:
		method = "other"
	}
	if status == 0 {
		status = 200
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}
