package web_test

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"
)

// WR-18, over the socket: no spelling reaches the shop without a pass.
func TestWR18_NoSpellingReachesTheShop(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	for _, target := range []string{
		"/sale", "/SALE", "/Sale/", "//sale", "/x/../sale", "/%53ale", "/sale;v=1", "/sale%2f", "/./sale", "/%2573ale", `/x\..\sale`,
		"http://shop.test/sale", "/sale%20", "/sale..", "/x;/../sale", "/sale#x",
	} {
		status := s.raw(t, "GET "+target+" HTTP/1.1\r\nHost: shop.test\r\nAccept: text/html\r\nConnection: close\r\n\r\n")
		last, n := s.shop.last()
		if n != 0 {
			t.Fatalf("%s reached the shop as %s: %s", target, last.uri, status)
		}
	}
}

// raw sends bytes and returns the status line of the answer.
func (s *site) raw(t *testing.T, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	return line
}

// FA-01: a question that promises a body and sends none is answered at once.
func TestFA01_ABodyIsNeverWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	head := "Host: anteroom\r\nX-Forwarded-Uri: /x\r\nX-Forwarded-Host: plain.test\r\nX-Forwarded-Method: POST\r\nContent-Type: application/json\r\n"
	for name, promise := range map[string]string{
		"a length": "Content-Length: 77\r\n", "chunks": "Transfer-Encoding: chunked\r\n", "an expectation": "Content-Length: 77\r\nExpect: 100-continue\r\n",
	} {
		for _, method := range []string{"GET", "POST"} {
			began := time.Now()
			line := s.raw(t, method+" /gate?for=traefik HTTP/1.1\r\n"+head+promise+"\r\n")
			if took := time.Since(began); took > 500*time.Millisecond || !strings.Contains(line, " 429 ") {
				t.Errorf("%s with %s: %q after %v", method, name, line, took)
			}
		}
	}
}
