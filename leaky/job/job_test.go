package job_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/job"
)

func sample() *job.Job {
	at := time.UnixMilli(1_764_571_867_123).UTC()
	return &job.Job{ID: "A", Queue: "mails", Tenant: "t", Lane: bucket.High, Key: "k", Cost: 3,
		ContentType: "text/plain", Accepted: at, NotBefore: at.Add(time.Hour), Attempts: 2, FirstTry: at,
		History: []job.Failure{{At: at, Status: 500, Reason: "line\nbreak"}}, Body: []byte("a\nb\x00\xff")}
}

func TestJob_ComesBackAsItWas(t *testing.T) {
	t.Parallel()
	raw, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := job.Decode(raw)
	if err != nil || !reflect.DeepEqual(got, sample()) {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestDecode_RefusesWhatIsNoJob(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"null": "", "text": "hello", "other version": "anteroom-job 2\n{}\n", "no end": `anteroom-job 1` + "\n" + `{"id":"A"}`,
		"no json": "anteroom-job 1\nx\n", "no id": "anteroom-job 1\n{}\n",
		"lane":  "anteroom-job 1\n" + `{"id":"A","queue":"q","lane":"dead","cost":1}` + "\n",
		"cost":  "anteroom-job 1\n" + `{"id":"A","queue":"q","lane":"high","cost":0}` + "\n",
		"large": "anteroom-job 1\n" + `{"id":"A","queue":"q","lane":"high","cost":1}` + "\n" + strings.Repeat("x", job.MostBody+1),
	} {
		if _, err := job.Decode([]byte(raw)); !errors.Is(err, job.ErrUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJob_KeepsTheLastFailures(t *testing.T) {
	t.Parallel()
	j := sample()
	for i := range 25 {
		j.Failed(job.Failure{Status: i})
	}
	if len(j.History) != job.KeptHistory || j.History[0].Status != 15 || j.History[9].Status != 24 {
		t.Fatalf("%+v", j.History)
	}
}

func FuzzDecode(f *testing.F) {
	raw, _ := sample().Encode()
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		j, err := job.Decode(raw)
		if err != nil {
			return
		}
		again, err := j.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := job.Decode(again); err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
	})
}
