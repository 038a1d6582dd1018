package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"net/rpc"
	"sync"
	"time"

	"github.com/anteroom/anteroom/leaky/bucket"
)

// poll is how long a Next waits at the server before it comes back empty.
const poll = 200 * time.Millisecond

// Serve serves b on each connection that listener accepts, until the listener is closed.
// Readers that do not beat for session are expelled.
func Serve(listener net.Listener, b bucket.Bucket, session time.Duration) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go serve(conn, b, session)
	}
}

// serve answers one process until its connection ends. What it had open is then given back.
func serve(conn io.ReadWriteCloser, b bucket.Bucket, session time.Duration) {
	s := &service{bucket: b, session: session, readers: map[int]*remoteReader{}}
	server := rpc.NewServer()
	if err := server.RegisterName("Bucket", s); err != nil {
		panic(err) // the methods below do not have the form that net/rpc wants
	}
	server.ServeConn(conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.readers {
		r.expel()
	}
}

// service has the methods that one process calls.
type service struct {
	bucket  bucket.Bucket
	session time.Duration

	mu      sync.Mutex
	readers map[int]*remoteReader
}

// remoteReader is a reader of a process elsewhere.
type remoteReader struct {
	bucket.Reader
	timer *time.Timer // expels it

	mu    sync.Mutex
	items map[int]*bucket.Item // handed out and not done
	count int
}

func (r *remoteReader) expel() {
	r.timer.Stop()
	_ = r.Close(context.Background()) // of a membucket it cannot fail
}

// PutCall is the argument of Put.
type PutCall struct {
	Line    bucket.Line
	Records []bucket.Record
}

// ItemCall names a reader and one of its items.
type ItemCall struct{ Reader, Item int }

// ItemReply is an item that was handed out; Item is 0 when none came in time.
type ItemReply struct {
	Item   int
	Record bucket.Record
	Put    time.Time
}

// Nothing is an argument or a reply without content.
type Nothing struct{}

var errExpelled = errors.New("remote: the reader was expelled")

// Put puts.
func (s *service) Put(call PutCall, _ *Nothing) error {
	return s.bucket.Put(context.Background(), call.Line, call.Records...)
}

// Open opens a reader and gives its number.
func (s *service) Open(line bucket.Line, number *int) error {
	reader, err := s.bucket.Open(line)
	if err != nil {
		return err
	}
	r := &remoteReader{Reader: reader, items: map[int]*bucket.Item{}}
	r.timer = time.AfterFunc(s.session, func() { _ = reader.Close(context.Background()) })
	s.mu.Lock()
	defer s.mu.Unlock()
	*number = len(s.readers) + 1
	s.readers[*number] = r
	return nil
}

func (s *service) reader(number int) *remoteReader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readers[number]
}

// Next waits a moment for an item.
func (s *service) Next(number int, reply *ItemReply) error {
	r := s.reader(number)
	ctx, cancel := context.WithTimeout(context.Background(), poll)
	defer cancel()
	item, err := r.Reader.Next(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil
	case err != nil:
		return errExpelled
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	r.items[r.count] = item
	*reply = ItemReply{Item: r.count, Record: item.Record, Put: item.Put}
	return nil
}

// Done is Reader.Done.
func (s *service) Done(call ItemCall, _ *Nothing) error {
	r := s.reader(call.Reader)
	r.mu.Lock()
	item := r.items[call.Item]
	delete(r.items, call.Item)
	r.mu.Unlock()
	if item != nil {
		r.Reader.Done(item)
	}
	return nil
}

// Beat keeps a reader and gives those of its items that were lost.
func (s *service) Beat(number int, lost *[]int) error {
	r := s.reader(number)
	if !r.timer.Reset(s.session) {
		return errExpelled
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, item := range r.items {
		if item.IsLost() {
			*lost = append(*lost, n)
			delete(r.items, n)
		}
	}
	return nil
}

// Close closes a reader.
func (s *service) Close(number int, _ *Nothing) error {
	s.reader(number).expel()
	return nil
}

// Backlog is Bucket.Backlog.
func (s *service) Backlog(_ Nothing, all *map[bucket.Line]bucket.Backlog) (err error) {
	*all, err = s.bucket.Backlog(context.Background())
	return err
}
