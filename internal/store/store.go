package store

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// ErrURL means that a Redis URL cannot be used. The text never has the password.
var ErrURL = errors.New("store: unusable Redis URL")

// A step is a fraction of a millisecond of Redis time: what takes longer is a fault, and
// the visitor is better served by a quick answer. A URL may set other values
// (?read_timeout=1s&pool_size=100).
const (
	dialTimeout = 200 * time.Millisecond
	callTimeout = 300 * time.Millisecond
	poolSize    = 32
	retries     = 1
	// dialTries is 1 because go-redis's 5 tries with 100 ms between them turn a
	// refused connection into a wait of 0.8 s.
	dialTries = 1
)

// Open makes a client for one node (redis, rediss, unix), a cluster
// (redis+cluster://host:port?addr=host:port) or Sentinel
// (redis+sentinel://host:port?master_name=name). It does not dial. The caller closes the
// client.
func Open(rawURL string) (redis.UniversalClient, error) {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok {
		return nil, fmt.Errorf("%w: it has no scheme, such as redis://host:6379", ErrURL)
	}
	single, kind, _ := strings.Cut(scheme, "+")
	if rest == "" || kind != "" && single != "redis" && single != "rediss" {
		kind = "unknown"
	}
	var rdb redis.UniversalClient
	var err error
	switch {
	case kind == "" && slices.Contains([]string{"redis", "rediss", "unix"}, single):
		rdb, err = openNode(rawURL)
	case kind == "cluster":
		rdb, err = openCluster(single + "://" + rest)
	case kind == "sentinel":
		rdb, err = openSentinel(single + "://" + rest)
	default:
		return nil, fmt.Errorf("%w: want redis://, rediss://, unix://, redis+cluster:// or redis+sentinel:// and an address", ErrURL)
	}
	if err != nil {
		return nil, fmt.Errorf("%w %s: %s", ErrURL, Redact(rawURL), reason(err, rest))
	}
	return rdb, nil
}

func openNode(rawURL string) (redis.UniversalClient, error) {
	o, err := redis.ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	times(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout)
	counts(&o.MaxRetries, &o.PoolSize, &o.DialerRetries)
	o.ContextTimeoutEnabled, o.MaintNotificationsConfig = true, noMaintenance()
	return redis.NewClient(o), nil
}

func openCluster(rawURL string) (redis.UniversalClient, error) {
	o, err := redis.ParseClusterURL(rawURL)
	if err != nil {
		return nil, err
	}
	times(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout)
	counts(&o.MaxRetries, &o.PoolSize, &o.DialerRetries)
	o.ContextTimeoutEnabled, o.MaintNotificationsConfig = true, noMaintenance()
	return redis.NewClusterClient(o), nil
}

func openSentinel(rawURL string) (redis.UniversalClient, error) {
	o, err := redis.ParseFailoverURL(rawURL)
	if err != nil {
		return nil, err
	}
	if o.MasterName == "" {
		return nil, errors.New("it does not name the master (?master_name=…)")
	}
	if o.RouteByLatency || o.RouteRandomly || o.ReplicaOnly {
		return nil, errors.New("the line is kept on the master; leave out route_by_latency, route_randomly and replica_only")
	}
	times(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout)
	counts(&o.MaxRetries, &o.PoolSize, &o.DialerRetries)
	o.ContextTimeoutEnabled = true
	return redis.NewFailoverClient(o), nil
}

// times fills what the URL leaves open.
func times(dial, read, write, pool *time.Duration) {
	for field, value := range map[*time.Duration]time.Duration{dial: dialTimeout, read: callTimeout, write: callTimeout, pool: callTimeout} {
		if *field == 0 {
			*field = value
		}
	}
}

// counts fills what the URL leaves open.
func counts(maxRetries, pool, dialerRetries *int) {
	for field, value := range map[*int]int{maxRetries: retries, pool: poolSize, dialerRetries: dialTries} {
		if *field == 0 {
			*field = value
		}
	}
}

// noMaintenance switches off a handshake of hosted offers that stretches timeouts to
// seconds while a node is being moved.
func noMaintenance() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// reason is the library's complaint. Where the URL may hold a password it is a general
// hint, because the library quotes the part that it cannot read.
func reason(err error, rest string) string {
	var parse *url.Error
	if errors.As(err, &parse) {
		err = parse.Err
	}
	if ours := !strings.HasPrefix(err.Error(), "redis: ") && parse == nil; ours || !strings.Contains(rest, "@") {
		return err.Error()
	}
	return "check host, port, database and options, and write signs such as / ? # @ % in the password as %2F %3F %23 %40 %25"
}

// Redact is a Redis URL without its secrets, for logs: no credentials, and of the options
// only the values that say where Redis is.
func Redact(rawURL string) string {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok {
		return "…"
	}
	address, query, _ := strings.Cut(rest, "?")
	if strings.Contains(query, "@") {
		return scheme + "://…" // a password with a ? in it, or one in an option
	}
	if i := strings.LastIndex(address, "@"); i >= 0 {
		address = "…@" + address[i+1:]
	}
	if query == "" {
		return scheme + "://" + address
	}
	options := strings.Split(query, "&")
	for i, o := range options {
		if key, _, _ := strings.Cut(o, "="); key != "addr" && key != "master_name" && key != "db" {
			options[i] = key + "=…"
		}
	}
	return scheme + "://" + address + "?" + strings.Join(options, "&")
}
