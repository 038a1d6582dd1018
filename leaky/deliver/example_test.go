package deliver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/anteroom/anteroom/leaky/deliver"
)

// A receiver verifies with the stock library and is asked to wait by a 429.
func Example() {
	verifier, _ := standardwebhooks.NewWebhook(string(secret))
	busy := true
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println("attempt", r.Header.Get(deliver.HeaderAttempt), "signed:", verifier.Verify(body, r.Header) == nil)
		if busy {
			w.Header().Set("Retry-After", "20")
			w.WriteHeader(http.StatusTooManyRequests)
		}
		busy = false
	}))
	defer receiver.Close()

	d, err := deliver.New(deliver.Config{Secrets: []deliver.Secret{secret}, AllowPrivate: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	job := deliver.Delivery{ID: "job_1", Attempt: 1, URL: receiver.URL, Body: []byte(`{"points": 7}`)}
	for range 2 {
		result := d.Deliver(context.Background(), job)
		fmt.Println(result.Outcome, result.Status, result.RetryAfter, result.Reason)
	}
	// Output:
	// attempt 1 signed: true
	// pause 429 20s answered 429 Too Many Requests: paused for 20s
	// attempt 1 signed: true
	// delivered 200 0s
}
