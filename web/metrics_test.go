package web

import "github.com/prometheus/client_golang/prometheus"

// nothing takes metrics and forgets them.
type nothing struct{}

func (nothing) Register(prometheus.Collector) error  { return nil }
func (nothing) MustRegister(...prometheus.Collector) {}
func (nothing) Unregister(prometheus.Collector) bool { return false }
