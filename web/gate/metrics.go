package gate

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	answers *prometheus.CounterVec
	away    prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) metrics {
	m := metrics{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anteroom_gate_answers_total", Help: "Requests that the gate was asked about, by room, outcome and reason.",
		}, []string{"room", "outcome", "reason"}),
		away: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anteroom_gate_store_away", Help: "1 while the gate cannot reach its store and on_store_error applies.",
		}),
	}
	reg.MustRegister(m.answers, m.away)
	return m
}

func (m metrics) count(a *Answer) {
	outcome := [...]string{Through: "through", Queue: "queue", Swap: "swap", Bad: "bad"}[a.Outcome]
	m.answers.WithLabelValues(a.Room.Name, outcome, string(a.Reason)).Inc()
}
