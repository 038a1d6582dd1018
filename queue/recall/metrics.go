package recall

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	memory, exact, lost prometheus.Counter
	tickets             prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) metrics {
	polls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anteroom_polls_total", Help: "Polls by what answered them: memory, exact.",
	}, []string{"by"})
	m := metrics{
		memory: polls.WithLabelValues("memory"), exact: polls.WithLabelValues("exact"),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anteroom_heartbeats_lost_total", Help: "Heartbeats of polls answered from memory that Redis did not take.",
		}),
		tickets: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anteroom_remembered_tickets", Help: "Tickets that this server remembers.",
		}),
	}
	reg.MustRegister(polls, m.lost, m.tickets)
	return m
}
