package redislimit

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/limit"
)

// once is a command that go-redis sends one time only. Without it the client sends a
// script again whose answer it did not get in time, and the call counts twice.
type once struct{ *redis.Cmd }

// NoRetry is asked by the client.
func (once) NoRetry() bool { return true }

// eval runs a script by its name and, when Redis does not know it (restarted, failed
// over, SCRIPT FLUSH), by its source, which makes it known again.
func (s *Store) eval(ctx context.Context, run *script, keys []string, args []any) ([]any, error) {
	reply, err := s.send(ctx, "evalsha", run.sha, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		reply, err = s.send(ctx, "eval", run.source, keys, args)
	}
	if redis.HasErrorPrefix(err, "CROSSSLOT") {
		return nil, limit.ErrCrossSlot
	}
	return reply, err
}

func (s *Store) send(ctx context.Context, name, what string, keys []string, args []any) ([]any, error) {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, name, what, len(keys))
	for _, k := range keys {
		all = append(all, k)
	}
	all = append(all, args...)
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return process(ctx, s.client, all)
	}
	return sendToMaster(ctx, cluster, keys[0], all)
}

// sendToMaster goes past the cluster client's own loop, which would send again after a
// lost answer. MOVED says that nothing was done, so asking the new master is no replay.
func sendToMaster(ctx context.Context, cluster *redis.ClusterClient, key string, all []any) ([]any, error) {
	node, err := cluster.MasterForKey(ctx, key)
	if err != nil {
		return nil, err
	}
	reply, err := process(ctx, node, all)
	if err == nil || !strings.HasPrefix(err.Error(), "MOVED ") {
		return reply, err
	}
	cluster.ReloadState(ctx)
	if node, err = cluster.MasterForKey(ctx, key); err != nil {
		return nil, err
	}
	return process(ctx, node, all)
}

func process(ctx context.Context, client Client, all []any) ([]any, error) {
	cmd := redis.NewCmd(ctx, all...)
	cmd.SetFirstKeyPos(3)
	if err := client.Process(ctx, once{cmd}); err != nil {
		return nil, err
	}
	return cmd.Slice()
}
