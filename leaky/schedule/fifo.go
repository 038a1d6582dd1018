package schedule

import "slices"

// job is one that waits.
type job[T any] struct {
	cost int64
	item T
}

// fifo is a queue whose front is taken from a slice. What was taken is let go of at once.
type fifo[T any] struct {
	jobs  []job[T]
	taken int // from the start of jobs
}

func (f *fifo[T]) len() int        { return len(f.jobs) - f.taken }
func (f *fifo[T]) head() job[T]    { return f.jobs[f.taken] }
func (f *fifo[T]) push(one job[T]) { f.jobs = append(f.jobs, one) }

func (f *fifo[T]) pushFront(one job[T]) {
	if f.taken == 0 {
		f.jobs = slices.Insert(f.jobs, 0, one)
		return
	}
	f.taken--
	f.jobs[f.taken] = one
}

func (f *fifo[T]) pop() job[T] {
	one := f.jobs[f.taken]
	f.jobs[f.taken] = job[T]{}
	f.taken++
	if 2*f.taken >= len(f.jobs) { // half of it is empty: move the rest down
		n := copy(f.jobs, f.jobs[f.taken:])
		clear(f.jobs[n:])
		f.jobs, f.taken = f.jobs[:n], 0
	}
	return one
}

func (f *fifo[T]) filter(keep func(T) bool) {
	rest := slices.DeleteFunc(f.jobs[f.taken:], func(one job[T]) bool { return !keep(one.item) })
	n := copy(f.jobs, rest)
	clear(f.jobs[n:])
	f.jobs, f.taken = f.jobs[:n], 0
}
