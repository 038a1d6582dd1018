package membucket

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/anteroom/anteroom/leaky/bucket"
)

// reader reads one line.
type reader struct {
	bucket *Bucket
	name   bucket.Line
	turn   int // the partition that is asked first
	closed bool
	stall  time.Time
}

// Next implements bucket.Reader.
func (r *reader) Next(ctx context.Context) (*bucket.Item, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.bucket.mu.Lock()
		item, due, err := r.take(time.Now())
		changed := r.bucket.changed
		r.bucket.mu.Unlock()
		if item != nil || err != nil {
			return item, err
		}
		var passed <-chan time.Time
		if !due.IsZero() {
			timer := time.NewTimer(time.Until(due))
			defer timer.Stop()
			passed = timer.C
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-passed:
		}
	}
}

// take hands out the first record that may go, or says when one is due.
func (r *reader) take(now time.Time) (*bucket.Item, time.Time, error) {
	if r.closed || r.bucket.closed {
		return nil, time.Time{}, bucket.ErrClosed
	}
	var due time.Time
	parts := r.bucket.lines[r.name].parts
	for i := range parts {
		p := parts[(r.turn+i)%len(parts)]
		if p.owner != r {
			continue
		}
		for at := p.committed; at < len(p.records); at++ {
			one := p.records[at]
			switch {
			case p.handed[at]:
			case one.Due.After(now):
				if due.IsZero() || one.Due.Before(due) {
					due = one.Due
				}
			default:
				p.handed[at] = true
				r.turn += i + 1 // the partitions take turns
				return &bucket.Item{Record: one.Record, Line: r.name, Put: one.put, Lost: p.lost, Mark: place{p, at, r}}, due, nil
			}
		}
	}
	return nil, due, nil
}

// Done implements bucket.Reader.
func (r *reader) Done(item *bucket.Item) {
	r.bucket.mu.Lock()
	defer r.bucket.mu.Unlock()
	at, ok := item.Mark.(place)
	if !ok || item.IsLost() || at.on.owner != r {
		return
	}
	at.on.done[at.offset] = true
	for at.on.done[at.on.committed] {
		delete(at.on.done, at.on.committed)
		at.on.committed++
	}
}

// Stall makes every reader of a line look silent since a time, and with the zero time well
// again.
func (b *Bucket) Stall(name bucket.Line, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.lines[name].readers {
		r.stall = since
	}
}

// Stalled implements bucket.Reader.
func (r *reader) Stalled() time.Time {
	r.bucket.mu.Lock()
	defer r.bucket.mu.Unlock()
	return r.stall
}

// Close implements bucket.Reader.
func (r *reader) Close(context.Context) error {
	r.bucket.mu.Lock()
	defer r.bucket.mu.Unlock()
	if !r.closed {
		r.closed = true
		on := r.bucket.lines[r.name]
		on.readers = slices.DeleteFunc(on.readers, func(one *reader) bool { return one == r })
		on.share()
		r.bucket.wake()
	}
	return nil
}

// Move takes every partition of a line from its reader, as a rebalance does, and gives it
// back to the same.
func (b *Bucket) Move(name bucket.Line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	on := b.lines[name]
	kept := on.readers
	on.readers = nil
	on.share()
	on.readers = kept
	on.share()
	b.wake()
}

// Scan implements bucket.Bucket. A mark is the partition and the number of a record.
func (b *Bucket) Scan(_ context.Context, from string, visit func(string, bucket.Record, time.Time) bool) (string, error) {
	if _, err := b.fault("scan", bucket.Dead); err != nil {
		return from, err
	}
	type dead struct {
		stored
		mark string
	}
	var all []dead
	b.mu.Lock()
	for i, p := range b.lines[bucket.Dead].parts {
		for at, one := range p.records {
			all = append(all, dead{one, strconv.Itoa(i) + "/" + strconv.Itoa(at)})
		}
	}
	b.mu.Unlock()
	slices.SortStableFunc(all, func(x, y dead) int { return x.put.Compare(y.put) })
	after := slices.IndexFunc(all, func(one dead) bool { return one.mark == from }) + 1
	for _, one := range all[after:] {
		from = one.mark
		if !visit(one.mark, one.Record, one.put) {
			break
		}
	}
	return from, nil
}
