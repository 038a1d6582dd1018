package pass_test

import (
	"fmt"
	"net/http"

	"github.com/anteroom/anteroom/pass"
)

// A shop puts the middleware before its handlers; it needs the address of Anteroom only.
func ExampleMiddleware() {
	keys := pass.NewRemoteKeys("https://queue.example/.well-known/jwks.json", nil)
	gate := pass.Middleware(pass.Gate{
		Room:     "sale",
		Verifier: pass.Verifier{Keys: keys},
		QueueURL: "https://queue.example/r/sale",
	})
	shop := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visitor, _ := pass.FromContext(r.Context())
		_, _ = fmt.Fprintf(w, "Welcome, %s", visitor.Visitor)
	})
	http.Handle("/", gate(shop))
}
