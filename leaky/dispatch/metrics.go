package dispatch

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/bucket"
)

// Metrics are those of all queues of a process, labelled by queue only.
type Metrics struct {
	delivered, retried, dead, duplicates, slots, missed, failures        *prometheus.CounterVec
	lag, later, letters, oldest, drain, allowed, breaker, inHand, flight *prometheus.GaugeVec
	stalled                                                              *prometheus.GaugeVec
	took                                                                 *prometheus.HistogramVec
}

// NewMetrics makes the metrics and registers them, unless reg is nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	var all []prometheus.Collector
	label := []string{"queue"}
	counter := func(name, help string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anteroom_jobs_" + name, Help: help}, label)
		all = append(all, c)
		return c
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "anteroom_jobs_" + name, Help: help}, label)
		all = append(all, g)
		return g
	}
	m := &Metrics{
		delivered:  counter("delivered_total", "Jobs that the destination took."),
		retried:    counter("retried_total", "Attempts that failed and are made again."),
		dead:       counter("dead_total", "Jobs and unreadable records that went to the dead letters."),
		duplicates: counter("duplicates_total", "Jobs that were handed out again though they were finished, and not sent."),
		slots:      counter("pace_used_total", "Cost for which places in the pace were taken."),
		missed:     counter("pace_missed_total", "Of it, what was taken and not used in time. It is never paid back."),
		failures:   counter("failures_total", "Steps that Redis or the bucket did not answer."),
		lag:        gauge("lag", "Jobs that may leave now and are not done, in the lanes high and normal."),
		later:      gauge("later", "Jobs that wait for a time."),
		letters:    gauge("dead_letters", "Dead letters in the bucket."),
		oldest:     gauge("oldest_seconds", "Age of the oldest job that may leave now."),
		drain:      gauge("drain_seconds", "Estimate of the time until the lag has left at the queue's pace."),
		allowed:    gauge("pace_allowed", "Cost that may leave in a second."),
		breaker:    gauge("breaker_state", "State of the destination's breaker: 0 closed, 1 half-open, 2 open or paused, 3 disabled."),
		inHand:     gauge("in_hand", "Jobs that this process has read and not finished."),
		flight:     gauge("in_flight", "Attempts under way in this process."),
		stalled:    gauge("stalled", "1 while this process is not ready to dispatch the queue."),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "anteroom_jobs_attempt_seconds", Help: "Duration of an attempt.",
			Buckets: prometheus.ExponentialBuckets(0.002, 3, 10),
		}, label),
	}
	if reg != nil {
		reg.MustRegister(append(all, m.took)...)
	}
	return m
}

// queueMetrics are those of one queue.
type queueMetrics struct {
	delivered, retried, dead, duplicates, slots, missed, failures prometheus.Counter
	lag, later, letters, oldest, drain, breaker, inHand, inFlight prometheus.Gauge
	stalled                                                       prometheus.Gauge
	took                                                          prometheus.Observer
}

func (m *Metrics) of(c Config) queueMetrics {
	m.allowed.WithLabelValues(c.Queue).Set(c.Rate)
	count := func(v *prometheus.CounterVec) prometheus.Counter { return v.WithLabelValues(c.Queue) }
	gauge := func(v *prometheus.GaugeVec) prometheus.Gauge { return v.WithLabelValues(c.Queue) }
	return queueMetrics{
		delivered: count(m.delivered), retried: count(m.retried), dead: count(m.dead), duplicates: count(m.duplicates),
		slots: count(m.slots), missed: count(m.missed), failures: count(m.failures),
		lag: gauge(m.lag), later: gauge(m.later), letters: gauge(m.letters), oldest: gauge(m.oldest), drain: gauge(m.drain),
		breaker: gauge(m.breaker), inHand: gauge(m.inHand), inFlight: gauge(m.flight), stalled: gauge(m.stalled),
		took: m.took.WithLabelValues(c.Queue),
	}
}

// observe sets the gauges. waiting is how many jobs may leave now.
func (d *Dispatcher) observe(backlog map[bucket.Line]bucket.Backlog, waiting int64) {
	m := d.metrics
	m.lag.Set(float64(waiting))
	m.later.Set(float64(backlog[bucket.Later].Records))
	m.letters.Set(float64(backlog[bucket.Dead].Records))
	m.drain.Set(float64(waiting) / d.cfg.Rate)
	m.inHand.Set(float64(d.window.inHand()))
	oldest := 0.0
	for _, line := range []bucket.Line{bucket.High, bucket.Normal} {
		if since := backlog[line].Oldest; !since.IsZero() {
			oldest = max(oldest, d.now().Sub(since).Seconds())
		}
	}
	m.oldest.Set(oldest)
}

// observeState sets what changes without the bucket's doing.
func (d *Dispatcher) observeState() {
	state := map[leaky.BreakerState]float64{leaky.Closed: 0, leaky.HalfOpen: 1, leaky.Open: 2, leaky.Disabled: 3}
	d.metrics.breaker.Set(state[d.breaker.Status().State])
	stalled := 0.0
	if d.Ready() != nil {
		stalled = 1
	}
	d.metrics.stalled.Set(stalled)
}
