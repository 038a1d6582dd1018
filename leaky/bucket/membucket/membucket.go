package membucket

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"github.com/anteroom/anteroom/leaky/bucket"
)

// Bucket is a bucket in memory. Its methods may be called from any goroutine.
type Bucket struct {
	// Fault, if not nil, is asked before every Put, Backlog and Scan. With apply false the
	// call is not carried out; with an error it fails, whether it was carried out or not.
	// Set it before the first call.
	Fault func(op string, line bucket.Line) (apply bool, err error)

	mu      sync.Mutex
	lines   map[bucket.Line]*line
	spread  int // records without a key go round
	closed  bool
	changed chan struct{} // closed when a reader may find something that it did not before
}

// line is one line and who reads it.
type line struct {
	parts   []*part
	readers []*reader
}

// part is one partition. Records from committed on are not known to be done, save those in done.
type part struct {
	records   []stored
	committed int
	done      map[int]bool
	handed    map[int]bool
	owner     *reader
	lost      chan struct{} // of the items that the owner was given
}

type stored struct {
	bucket.Record
	put time.Time
}

// place is the mark of an item.
type place struct {
	on     *part
	offset int
	owner  *reader
}

// New is an empty bucket with so many partitions a line.
func New(partitions int) *Bucket {
	b := &Bucket{lines: map[bucket.Line]*line{}, changed: make(chan struct{})}
	for _, name := range bucket.Lines() {
		l := &line{}
		for range partitions {
			l.parts = append(l.parts, &part{done: map[int]bool{}, handed: map[int]bool{}, lost: make(chan struct{})})
		}
		b.lines[name] = l
	}
	return b
}

func (b *Bucket) fault(op string, line bucket.Line) (bool, error) {
	if b.Fault == nil {
		return true, nil
	}
	return b.Fault(op, line)
}

// wake tells every reader that waits. The mutex is held.
func (b *Bucket) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Put implements bucket.Bucket.
func (b *Bucket) Put(ctx context.Context, name bucket.Line, records ...bucket.Record) error {
	apply, fault := b.fault("put", name)
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return bucket.ErrClosed
	}
	for _, r := range records {
		switch {
		case len(r.Value) > bucket.MostBytes:
			return bucket.ErrTooLarge
		case r.ID == "", name == bucket.Later && r.Due.IsZero():
			return bucket.ErrRecord
		}
	}
	if apply {
		for _, r := range records {
			to := b.partFor(name, r.Key)
			to.records = append(to.records, stored{r, time.Now()})
		}
		b.wake()
	}
	return fault
}

// partFor is where a record goes: those of one key to one partition.
func (b *Bucket) partFor(name bucket.Line, key string) *part {
	parts := b.lines[name].parts
	if key == "" {
		b.spread++
		return parts[b.spread%len(parts)]
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return parts[int(h.Sum32())%len(parts)]
}

// Raw puts a value as a foreign program would, without any check.
func (b *Bucket) Raw(name bucket.Line, id string, value []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	to := b.partFor(name, "")
	to.records = append(to.records, stored{bucket.Record{ID: id, Value: value}, time.Now()})
	b.wake()
}

// Open implements bucket.Bucket.
func (b *Bucket) Open(name bucket.Line) (bucket.Reader, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, bucket.ErrClosed
	}
	r := &reader{bucket: b, name: name}
	on := b.lines[name]
	on.readers = append(on.readers, r)
	on.share()
	b.wake()
	return r, nil
}

// share gives each reader its partitions. One that moves loses all but the prefix that is done.
func (l *line) share() {
	for i, p := range l.parts {
		var owner *reader
		if len(l.readers) > 0 {
			owner = l.readers[i%len(l.readers)]
		}
		if owner == p.owner {
			continue
		}
		close(p.lost)
		p.owner, p.lost = owner, make(chan struct{})
		p.done, p.handed = map[int]bool{}, map[int]bool{}
	}
}

// Backlog implements bucket.Bucket.
func (b *Bucket) Backlog(context.Context) (map[bucket.Line]bucket.Backlog, error) {
	if _, err := b.fault("backlog", ""); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[bucket.Line]bucket.Backlog{}
	for name, l := range b.lines {
		var sum bucket.Backlog
		for _, p := range l.parts {
			sum.Records += int64(len(p.records) - p.committed)
			if p.committed < len(p.records) {
				if put := p.records[p.committed].put; sum.Oldest.IsZero() || put.Before(sum.Oldest) {
					sum.Oldest = put
				}
			}
		}
		all[name] = sum
	}
	return all, nil
}

// Close implements bucket.Bucket.
func (b *Bucket) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		for _, l := range b.lines {
			l.readers = nil
			l.share()
		}
		b.wake()
	}
	return nil
}
