package jobreceiver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/jobreceiver"
	"github.com/anteroom/anteroom/leaky/deliver"
)

const secret = deliver.Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

func at(ms ...int) (all []jobreceiver.Arrival) {
	start := time.Unix(1_800_000_000, 0)
	for _, m := range ms {
		all = append(all, jobreceiver.Arrival{ID: "a", At: start.Add(time.Duration(m) * time.Millisecond)})
	}
	return all
}

func TestBusiest_CountsAnySlidingWindow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   []jobreceiver.Arrival
		want int
	}{
		"none": {nil, 0}, "one": {at(5), 1}, "the end is outside": {at(0, 500, 1000), 2},
		"across the second's edge": {at(0, 900, 950, 1000, 1050, 1899), 5}, "all at once": {at(7, 7, 7, 7), 4},
	} {
		if got := jobreceiver.Busiest(c.at, time.Second); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestUsed_IsThePartOfThePace(t *testing.T) {
	t.Parallel()
	if got := jobreceiver.Used(at(0, 100, 200, 400), 10); got != 0.75 {
		t.Errorf("three gaps in 400 ms at 10/s are %v of it, want 0.75", got)
	}
	if got := jobreceiver.Used(at(1), 10); got != 0 {
		t.Errorf("one arrival uses %v", got)
	}
}

func TestReceiver_TellsValidFromForgedDeliveries(t *testing.T) {
	t.Parallel()
	r, err := jobreceiver.New(secret, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r)
	defer server.Close()
	for _, s := range []deliver.Secret{secret, "whsec_" + deliver.Secret(strings.Repeat("QUJD", 8))} {
		d, err := deliver.New(deliver.Config{Secrets: []deliver.Secret{s}, AllowPrivate: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Deliver(t.Context(), deliver.Delivery{ID: "job1", Attempt: 2, URL: server.URL, Body: []byte("x")}); got.Status != http.StatusAccepted {
			t.Fatalf("%+v", got)
		}
		d.Close()
	}
	if !r.Await(time.Minute, func(all []jobreceiver.Arrival) bool { return len(all) == 2 }) {
		t.Fatalf("%d arrivals, want 2", len(r.Arrivals()))
	}
	got := jobreceiver.Summarize(r.Arrivals())
	if got.Forged != 1 || got.Jobs != 1 || got.Duplicates["job1"] != 1 || r.Arrivals()[0].Attempt != 2 || r.Arrivals()[0].Body != "x" {
		t.Errorf("%v; first %+v", got, r.Arrivals()[0])
	}
}
