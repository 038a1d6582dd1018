package pass_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"time"

	"github.com/anteroom/anteroom/pass"
)

// A shop on its own domain. Anteroom lists that domain in the room's targets, sends
// admitted visitors there with a token in the URL, and the middleware swaps it for a cookie.
func ExampleMiddleware() {
	const queue = "https://queue.example"
	keys, err := pass.NewRemoteKeys(pass.RemoteConfig{URL: queue + "/.well-known/jwks.json"})
	if err != nil {
		log.Fatal(err)
	}
	// Optional: a release or a reset closes the shop for a visitor within two seconds.
	online, err := pass.NewOnline(pass.OnlineConfig{AnteroomURL: queue})
	if err != nil {
		log.Fatal(err)
	}
	gate := pass.Middleware(pass.Config{
		Room:        "sale",
		Keys:        keys,
		QueueURL:    queue + "/r/sale",
		AnteroomURL: queue,
		PublicURL:   "https://shop.example",
		Online:      online,
		MaxSession:  time.Hour, // the room's max_session
		Exempt:      func(r *http.Request) bool { return r.URL.Path == "/healthz" || pass.Preflight(r) },
		Logger:      slog.Default(),
	})
	shop := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visitor, _ := pass.FromContext(r.Context())
		_, _ = fmt.Fprintf(w, "Welcome, %s", visitor.Visitor)
	})
	server := &http.Server{Addr: ":8080", Handler: gate(shop), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// Two domains from end to end: the queue's server, which is played here, and the shop.
func ExampleMiddleware_twoDomains() {
	key, err := pass.GenerateKey()
	if err != nil {
		log.Fatal(err)
	}
	signer, err := pass.NewSigner("https://queue.example", key)
	if err != nil {
		log.Fatal(err)
	}
	now := time.Now()
	visitor := pass.Claims{Room: "sale", Visitor: "visitor-1", Generation: 1}

	queue := http.NewServeMux()
	queue.HandleFunc("GET /.well-known/jwks.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(signer.JWKS()) })
	queue.HandleFunc("POST /v1/rooms/sale/redeem", func(w http.ResponseWriter, _ *http.Request) {
		token, _, _ := signer.Renew(visitor, now, now.Add(10*time.Minute))
		_, _ = fmt.Fprintf(w, `{"pass":%q,"expires_in_s":600}`, token)
	})
	anteroom := httptest.NewServer(queue)

	keys, err := pass.NewRemoteKeys(pass.RemoteConfig{URL: anteroom.URL + "/.well-known/jwks.json"})
	if err != nil {
		log.Fatal(err)
	}
	gate := pass.Middleware(pass.Config{
		Room: "sale", Keys: keys, QueueURL: anteroom.URL + "/r/sale", AnteroomURL: anteroom.URL,
	})
	shop := httptest.NewServer(gate(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s reads %s", r.Header.Get(pass.HeaderVisitor), r.RequestURI)
	})))

	// The queue page sends the admitted visitor to the shop.
	token, _, err := signer.SignHandover(visitor, now)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(open(pass.AddHandover(shop.URL+"/tickets?day=fri", token)))
	shop.Close()
	anteroom.Close()
	// Output:
	// visitor-1 reads /tickets?day=fri
}

// open loads a page as a browser does.
func open(address string) string {
	jar, err := cookiejar.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, http.NoBody)
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	resp, err := browser.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		log.Fatal(err)
	}
	return string(body)
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
