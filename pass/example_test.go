package pass_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/anteroom/anteroom/pass"
)

// A shop puts the middleware before its handlers; it needs the address of Anteroom only.
func ExampleMiddleware() {
	keys, err := pass.NewRemoteKeys(pass.RemoteConfig{URL: "https://queue.example/.well-known/jwks.json"})
	if err != nil {
		log.Fatal(err)
	}
	gate := pass.Middleware(pass.Config{
		Room:      "sale",
		Keys:      keys,
		QueueURL:  "https://queue.example/r/sale",
		PublicURL: "https://shop.example",
		Exempt:    func(r *http.Request) bool { return r.URL.Path == "/healthz" || pass.Preflight(r) },
	})
	shop := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visitor, _ := pass.FromContext(r.Context())
		_, _ = fmt.Fprintf(w, "Welcome, %s", visitor.Visitor)
	})
	http.Handle("/", gate(shop))
}

// A service that is no web server checks passes itself.
func ExampleVerifier_Verify() {
	key, err := pass.GenerateKey()
	if err != nil {
		log.Fatal(err)
	}
	signer, err := pass.NewSigner("https://queue.example", key)
	if err != nil {
		log.Fatal(err)
	}
	now := time.Now()
	token, _, err := signer.Sign("sale", "visitor-1", 1, now, now.Add(10*time.Minute))
	if err != nil {
		log.Fatal(err)
	}

	verifier := pass.Verifier{Keys: signer.Keys(), Issuer: "https://queue.example"}
	claims, err := verifier.Verify(context.Background(), token, "sale", 1)
	fmt.Println(claims.Visitor, err)
	_, err = verifier.Verify(context.Background(), token, "other", 1)
	fmt.Println(errors.Is(err, pass.ErrRoom))
	// Output:
	// visitor-1 <nil>
	// true
}
