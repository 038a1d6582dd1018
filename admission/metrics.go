package admission

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/queue"
)

// metrics are labelled by room, a closed list from the rooms file.
type metrics struct {
	tickets  *prometheus.CounterVec
	waiting  *prometheus.GaugeVec
	active   *prometheus.GaugeVec
	capacity *prometheus.GaugeVec
	held     *prometheus.GaugeVec
	failures *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	room := []string{"room"}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, room)
	}
	m := metrics{
		tickets: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anteroom_admission_tickets_total",
			Help: "Tickets by what a tick did with them: admitted, aside, dropped, expired, noshow.",
		}, []string{"room", "what"}),
		waiting:  gauge("anteroom_room_waiting", "Tickets in the line, away ones included."),
		active:   gauge("anteroom_room_active", "People inside, unclaimed turns included."),
		capacity: gauge("anteroom_room_capacity", "People that may be inside at once."),
		held:     gauge("anteroom_room_held_seconds", "Seconds for which admission waits for a forgotten line to re-form."),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anteroom_admission_failures_total", Help: "Ticks that Redis did not answer.",
		}, room),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "anteroom_admission_tick_seconds", Help: "Duration of one admit step.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 3, 9),
		}, room),
	}
	reg.MustRegister(m.tickets, m.waiting, m.active, m.capacity, m.held, m.failures, m.seconds)
	return m
}

func (m metrics) observe(room queue.Room, t queue.Tick, err error, took time.Duration) {
	m.seconds.WithLabelValues(room.Name).Observe(took.Seconds())
	if err != nil {
		m.failures.WithLabelValues(room.Name).Inc()
		return
	}
	for what, n := range map[string]int64{
		"admitted": t.Admitted, "aside": t.Aside, "dropped": t.Dropped, "expired": t.Expired - t.NoShows, "noshow": t.NoShows,
	} {
		m.tickets.WithLabelValues(room.Name, what).Add(float64(n))
	}
	m.waiting.WithLabelValues(room.Name).Set(float64(t.Waiting))
	m.active.WithLabelValues(room.Name).Set(float64(t.Active))
	m.capacity.WithLabelValues(room.Name).Set(float64(room.Rules.Capacity))
	m.held.WithLabelValues(room.Name).Set(t.Held.Seconds())
}
