package membucket_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/bucket/membucket"
)

func record(id string) bucket.Record { return bucket.Record{ID: id, Value: []byte(id)} }

func put(t *testing.T, b *membucket.Bucket, line bucket.Line, records ...bucket.Record) {
	t.Helper()
	if err := b.Put(context.Background(), line, records...); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, b *membucket.Bucket, line bucket.Line) bucket.Reader {
	t.Helper()
	r, err := b.Open(line)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// take reads what comes within a second of the fake clock.
func take(t *testing.T, r bucket.Reader) (all []*bucket.Item) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for {
		item, err := r.Next(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
}

func ids(items []*bucket.Item) (all []string) {
	for _, item := range items {
		all = append(all, item.ID)
	}
	return all
}

// Only the prefix that is done survives a move, and what was lost says so.
func TestBucket_AMoveHandsOutAgainWhatIsBehindThePrefix(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := membucket.New(1)
		for i := range 5 {
			put(t, b, bucket.Normal, record(fmt.Sprint(i)))
		}
		r := open(t, b, bucket.Normal)
		first := take(t, r)
		for _, i := range []int{3, 0, 1} {
			r.Done(first[i])
		}
		b.Move(bucket.Normal)
		r.Done(first[2]) // too late
		if again := ids(take(t, r)); !first[4].IsLost() || !slices.Equal(again, []string{"2", "3", "4"}) {
			t.Errorf("handed out again: %v, want what is behind the first two", again)
		}
	})
}

// Readers share the partitions, and one that closes gives its own back.
func TestBucket_ReadersShareAndGiveBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := membucket.New(4)
		for i := range 40 {
			put(t, b, bucket.High, record(fmt.Sprint(i)))
		}
		one, two := open(t, b, bucket.High), open(t, b, bucket.High)
		of1, of2 := take(t, one), take(t, two)
		if len(of1) != 20 || len(of2) != 20 {
			t.Errorf("readers had %d and %d of 40", len(of1), len(of2))
		}
		for _, item := range of2[:10] {
			two.Done(item)
		}
		if err := two.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if rest := take(t, one); len(rest) != 10 {
			t.Errorf("%d came back, want the 10 that were not done", len(rest))
		}
		if _, err := two.Next(t.Context()); !errors.Is(err, bucket.ErrClosed) {
			t.Errorf("a closed reader says %v", err)
		}
	})
}

func TestBucket_LaterWaitsForItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := membucket.New(2)
		began := time.Now()
		r := open(t, b, bucket.Later)
		for i, due := range []int{3, 1, 2} {
			one := record(fmt.Sprint(i))
			one.Due = began.Add(time.Duration(due) * time.Minute)
			put(t, b, bucket.Later, one)
		}
		for i, want := range []string{"1", "2", "0"} {
			item, err := r.Next(t.Context())
			if at := time.Since(began); err != nil || item.ID != want || at != time.Duration(i+1)*time.Minute {
				t.Fatalf("after %v came %v, %v; want %s at minute %d", at, item, err, want, i+1)
			}
		}
	})
}

func TestBucket_RefusesWhatNoBucketTakes(t *testing.T) {
	t.Parallel()
	b := membucket.New(1)
	big := bucket.Record{ID: "a", Value: []byte(strings.Repeat("x", bucket.MostBytes+1))}
	for name, c := range map[string]struct {
		line bucket.Line
		r    bucket.Record
		want error
	}{
		"too large": {bucket.High, big, bucket.ErrTooLarge}, "no id": {bucket.High, bucket.Record{}, bucket.ErrRecord},
		"later without a time": {bucket.Later, record("a"), bucket.ErrRecord},
	} {
		if err := b.Put(t.Context(), c.line, c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if err := b.Put(t.Context(), bucket.High, record("a")); !errors.Is(err, bucket.ErrClosed) {
		t.Errorf("a closed bucket says %v", err)
	}
	if _, err := b.Open(bucket.High); !errors.Is(err, bucket.ErrClosed) {
		t.Errorf("a closed bucket says %v", err)
	}
}

func TestBucket_ScanGoesOnAfterAMark(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := membucket.New(3)
		for i := range 5 {
			put(t, b, bucket.Dead, record(fmt.Sprint(i)))
			time.Sleep(time.Second)
		}
		var seen []string
		two := func(_ string, r bucket.Record, _ time.Time) bool {
			seen = append(seen, r.ID)
			return len(seen)%2 != 0
		}
		mark := ""
		for range 3 {
			last, err := b.Scan(t.Context(), mark, two)
			if err != nil {
				t.Fatal(err)
			}
			mark = last
		}
		if !slices.Equal(seen, []string{"0", "1", "2", "3", "4"}) {
			t.Errorf("two at a time the scan saw %v", seen)
		}
	})
}
