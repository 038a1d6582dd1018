package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// slots is the number of slots of every Redis Cluster.
const slots = 16384

// Cluster is a Redis Cluster of so many masters without replicas. It is the one kind of
// server here that listens on TCP, on free ports of 127.0.0.1, because cluster nodes tell
// each other and their clients TCP addresses. Forming it takes a second or two.
type Cluster struct {
	Nodes []*Server
	ports []string
}

// StartCluster starts a cluster for this test alone.
func StartCluster(t testing.TB, masters int) *Cluster {
	t.Helper()
	c := &Cluster{}
	for range masters {
		port, err := freePort()
		if err != nil {
			t.Fatalf("redistest: %v", err)
		}
		c.ports = append(c.ports, port)
		c.Nodes = append(c.Nodes, Start(t, "--port", port, "--bind", "127.0.0.1", "--cluster-enabled", "yes"))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := c.form(ctx, t); err != nil {
		t.Fatalf("redistest: form a cluster: %v", err)
	}
	return c
}

// URL is the cluster's address for programs that take one.
func (c *Cluster) URL() string {
	url := "redis+cluster://127.0.0.1:" + c.ports[0]
	for i, p := range c.ports[1:] {
		url += map[bool]string{true: "?", false: "&"}[i == 0] + "addr=127.0.0.1:" + p
	}
	return url
}

// Client opens a client that is closed with the test.
func (c *Cluster) Client(t testing.TB) *redis.ClusterClient {
	t.Helper()
	o := &redis.ClusterOptions{ContextTimeoutEnabled: true}
	for _, p := range c.ports {
		o.Addrs = append(o.Addrs, "127.0.0.1:"+p)
	}
	rdb := redis.NewClusterClient(o)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// form shares out the slots, introduces the nodes and waits until all of them agree.
func (c *Cluster) form(ctx context.Context, t testing.TB) error {
	n := len(c.Nodes)
	clients := make([]*redis.Client, n)
	var errs []error
	for i, node := range c.Nodes {
		clients[i] = node.Client(t)
		errs = append(errs,
			clients[i].ClusterAddSlotsRange(ctx, i*slots/n, (i+1)*slots/n-1).Err(),
			clients[0].ClusterMeet(ctx, "127.0.0.1", c.ports[i]).Err())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond) // the nodes gossip and tell nobody when they are done
	defer tick.Stop()
	for !c.agreed(ctx, clients) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func (c *Cluster) agreed(ctx context.Context, clients []*redis.Client) bool {
	size := fmt.Sprintf("cluster_size:%d\r\n", len(clients))
	for _, rdb := range clients {
		info := rdb.ClusterInfo(ctx).Val()
		if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, size) {
			return false
		}
	}
	return true
}

// freePort is a port that nobody listens on, low enough for the cluster bus, which takes
// the port 10,000 above.
func freePort() (string, error) {
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		n := l.Addr().(*net.TCPAddr).Port
		if err := errors.Join(err, l.Close()); err != nil {
			return "", err
		}
		if n <= 55535 {
			return port, nil
		}
	}
	return "", errors.New("no free port below 55536")
}
