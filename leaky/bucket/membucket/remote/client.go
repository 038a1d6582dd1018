package remote

import (
	"context"
	"errors"
	"fmt"
	"net/rpc"
	"sync"
	"time"

	"github.com/anteroom/anteroom/leaky/bucket"
)

// beatEvery is how often a reader beats.
const beatEvery = 100 * time.Millisecond

// Client is a bucket in another process. Scan is not served.
type Client struct {
	rpc *rpc.Client
}

var _ bucket.Bucket = (*Client)(nil)

// Dial connects to a bucket that is served at a unix socket.
func Dial(socket string) (*Client, error) {
	c, err := rpc.Dial("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	return &Client{c}, nil
}

// call is one question to the server. Every failure is an ErrAway: it may have been carried out.
func (c *Client) call(ctx context.Context, method string, args, reply any) error {
	call := c.rpc.Go("Bucket."+method, args, reply, make(chan *rpc.Call, 1))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-call.Done:
	}
	if call.Error != nil {
		return fmt.Errorf("%w: %w", bucket.ErrAway, call.Error)
	}
	return nil
}

// Put implements bucket.Bucket.
func (c *Client) Put(ctx context.Context, line bucket.Line, records ...bucket.Record) error {
	return c.call(ctx, "Put", PutCall{line, records}, &Nothing{})
}

// Backlog implements bucket.Bucket.
func (c *Client) Backlog(ctx context.Context) (all map[bucket.Line]bucket.Backlog, err error) {
	err = c.call(ctx, "Backlog", Nothing{}, &all)
	return all, err
}

// Scan implements bucket.Bucket.
func (c *Client) Scan(context.Context, string, func(string, bucket.Record, time.Time) bool) (string, error) {
	return "", errors.ErrUnsupported
}

// Close implements bucket.Bucket.
func (c *Client) Close() error { return c.rpc.Close() }

// Open implements bucket.Bucket.
func (c *Client) Open(line bucket.Line) (bucket.Reader, error) {
	r := &reader{client: c, line: line, items: map[int]chan struct{}{}, closed: make(chan struct{})}
	if err := r.join(context.Background()); err != nil {
		return nil, err
	}
	r.parts.Go(r.beat)
	return r, nil
}

// reader reads one line; when it was expelled it joins again.
type reader struct {
	client *Client
	line   bucket.Line
	closed chan struct{}
	parts  sync.WaitGroup

	next sync.Mutex // one Next at a time
	call *rpc.Call  // under way when the last Next gave up; guarded by next

	mu     sync.Mutex
	number int
	items  map[int]chan struct{} // handed out and not done: closed when lost
}

func (r *reader) join(ctx context.Context) error {
	var number int
	if err := r.client.call(ctx, "Open", r.line, &number); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, lost := range r.items { // what an earlier reader was given
		close(lost)
		delete(r.items, n)
	}
	r.number = number
	return nil
}

func (r *reader) current() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.number
}

// beat keeps the reader until it is closed.
func (r *reader) beat() {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.closed:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		var lost []int
		if err := r.client.call(ctx, "Beat", r.current(), &lost); err != nil {
			_ = r.join(ctx) // if that fails, the next beat fails too and tries again
		}
		cancel()
		r.mu.Lock()
		for _, n := range lost {
			if gone := r.items[n]; gone != nil {
				close(gone)
				delete(r.items, n)
			}
		}
		r.mu.Unlock()
	}
}

// mark says which reader an item came by.
type mark struct{ reader, item int }

// Next implements bucket.Reader.
func (r *reader) Next(ctx context.Context) (*bucket.Item, error) {
	r.next.Lock()
	defer r.next.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.call == nil {
			r.call = r.client.rpc.Go("Bucket.Next", r.current(), &ItemReply{}, make(chan *rpc.Call, 1))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-r.closed:
			return nil, bucket.ErrClosed
		case <-r.call.Done:
		}
		call := r.call
		r.call = nil
		if item := r.handOut(call); item != nil {
			return item, nil
		}
		if call.Error != nil { // expelled: the next beat joins again
			select {
			case <-ctx.Done():
			case <-time.After(beatEvery):
			}
		}
	}
}

// handOut makes an item of what a call brought, nil if it brought none.
func (r *reader) handOut(call *rpc.Call) *bucket.Item {
	got, number := call.Reply.(*ItemReply), call.Args.(int)
	r.mu.Lock()
	defer r.mu.Unlock()
	if call.Error != nil || got.Item == 0 || number != r.number {
		return nil
	}
	lost := make(chan struct{})
	r.items[got.Item] = lost
	return &bucket.Item{Record: got.Record, Line: r.line, Put: got.Put, Lost: lost, Mark: mark{number, got.Item}}
}

// Done implements bucket.Reader.
func (r *reader) Done(item *bucket.Item) {
	of := item.Mark.(mark)
	r.mu.Lock()
	defer r.mu.Unlock()
	if of.reader == r.number && !item.IsLost() {
		delete(r.items, of.item)
		r.client.rpc.Go("Bucket.Done", ItemCall{of.reader, of.item}, &Nothing{}, make(chan *rpc.Call, 1))
	}
}

// Stalled implements bucket.Reader.
func (*reader) Stalled() time.Time { return time.Time{} }

// Close implements bucket.Reader.
func (r *reader) Close(ctx context.Context) error {
	close(r.closed)
	r.parts.Wait()
	return r.client.call(ctx, "Close", r.current(), &Nothing{})
}
