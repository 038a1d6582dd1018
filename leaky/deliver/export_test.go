package deliver

import "net"

// NewHooked is New with names resolved by resolver (nil is Go's) and a last word for dialled
// on each address that passed the checks.
func NewHooked(cfg Config, resolver *net.Resolver, dialled func(address string) error) (*Deliverer, error) {
	hooks := productionHooks()
	if resolver != nil {
		hooks.resolver = resolver
	}
	if dialled != nil {
		hooks.dialled = dialled
	}
	return newDeliverer(cfg, hooks)
}

// Clip is clip.
func Clip(s string, limit int) string { return clip(s, limit) }
