package load

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestWhole_ReadsAnAnswerInPieces(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\nVary: Origin\r\n\r\n{}\n"
	for n := range len(answer) {
		// The first bytes alone are no status yet, and no fault.
		if done, err := whole([]byte(answer[:n]), 200); done || err != nil {
			t.Errorf("%q: whole is %v, %v; want more to come", answer[:n], done, err)
		}
	}
	if done, err := whole([]byte(answer), 200); !done || err != nil {
		t.Errorf("whole is %v, %v; want the end", done, err)
	}
	for _, bad := range []string{
		strings.Replace(answer, "200", "503", 1), answer + "x",
		strings.Replace(answer, "Content-Length: 3\r\n", "", 1), strings.Replace(answer, ": 3", ": x", 1),
	} {
		if _, err := whole([]byte(bad), 200); err == nil {
			t.Errorf("whole takes %q", bad)
		}
	}
}

func TestWhole_NoContentHasNoBody(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n"
	if done, err := whole([]byte(answer), 204); !done || err != nil {
		t.Errorf("whole is %v, %v; want the end", done, err)
	}
	if _, err := whole([]byte(answer+"x"), 204); err == nil {
		t.Error("whole takes a body after 204")
	}
}

// get is a request of so many, then none.
func get(most int64) Request {
	var n atomic.Int64
	return func(b []byte, host string) []byte {
		if n.Add(1) > most {
			return nil
		}
		return fmt.Appendf(b, "GET /x HTTP/1.1\r\nHost: %s\r\n\r\n", host)
	}
}

func TestClient_AsksUntilTheEnd(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(Plain("/x", Answer{Status: http.StatusOK, Body: []byte("{}")}))
	defer server.Close()
	l, err := Dial(server.Listener.Addr().String(), 2, get(1<<40), http.StatusOK)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := l.Run(t.Context(), 20*time.Millisecond)
	if err != nil || len(r.Latencies) == 0 || r.Took < 20*time.Millisecond {
		t.Errorf("%d requests in %v, %v", len(r.Latencies), r.Took, err)
	}
}

func TestClient_EndsWithItsRequests(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(Plain("/x", Answer{Status: http.StatusNoContent}))
	defer server.Close()
	l, err := Dial(server.Listener.Addr().String(), 2, get(5), http.StatusNoContent)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := l.Run(t.Context(), time.Hour)
	if err != nil || len(r.Latencies) != 5 {
		t.Errorf("%d requests, %v; want 5", len(r.Latencies), err)
	}
}

func TestPlain_RepeatsWhatWasFetched(t *testing.T) {
	t.Parallel()
	want := Answer{Status: http.StatusTeapot, Header: http.Header{"X-Empty": {""}, "Content-Type": {"a/b"}}, Body: []byte("hi")}
	server := httptest.NewServer(Plain("/x", want))
	defer server.Close()
	got, err := Fetch(t.Context(), server.Listener.Addr().String(), get(1), http.StatusTeapot)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("fetched %v, %v; want %v", got, err, want)
	}
}

func TestServe_AnswersForItsTimeAndItsProfiles(t *testing.T) {
	t.Parallel()
	profile := filepath.Join(t.TempDir(), "allocs")
	in, question := io.Pipe()
	answer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(in, out, func(order json.RawMessage, _ string) (http.Handler, error) {
			return Plain("/x", Answer{Status: http.StatusOK, Body: order}), nil
		})
	}()
	s := &Server{Name: "test", in: question, out: json.NewDecoder(answer)}
	var h hello
	if err := s.ask(start{Profiles{Allocs: profile}, json.RawMessage(`"order"`)}, &h); err != nil {
		t.Fatal(err)
	}
	got, err := Fetch(t.Context(), h.Address, get(1), http.StatusOK)
	if err != nil || string(got.Body) != `"order"` {
		t.Errorf("the answer is %q, %v", got.Body, err)
	}
	if _, err := s.cpu(); err != nil {
		t.Error(err)
	}
	_ = question.Close()
	if err := <-ended; err != nil {
		t.Errorf("Serve ended with %v", err)
	}
	if _, err := os.Stat(profile); err != nil {
		t.Error(err)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	var r Round
	for i := range 101 {
		r.Latencies = append(r.Latencies, time.Duration(100-i))
	}
	if a, b := r.quantile(0.5), r.quantile(0.99); a != 50 || b != 99 {
		t.Errorf("quantiles are %d and %d, want 50 and 99", a, b)
	}
}

func TestReplace_KeepsTheRest(t *testing.T) {
	t.Parallel()
	s := Section{Mark: "x", Title: "X"}
	doc := "before\n" + s.replace("", "old\n") + "after\n"
	if got, want := s.replace(doc, "new\n"), strings.Replace(doc, "old", "new", 1); got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
}

func TestSection_Write(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "docs", "x.md")
	for _, s := range []Section{{Mark: "a", Title: "A"}, {Mark: "b", Title: "B"}, {Mark: "a", Title: "A"}} {
		if err := s.Write(file, s.Title+" text\n"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || strings.Count(string(got), "A text") != 1 || !strings.Contains(string(got), "## B\n\n<!-- b -->\nB text") {
		t.Errorf("the file is %q, %v", got, err)
	}
}

func TestRedisCPU(t *testing.T) {
	t.Parallel()
	got, err := redisCPU(map[string]string{"used_cpu_user": "1.5", "used_cpu_sys": "0.25\r"})
	if err != nil || got != 1750*time.Millisecond {
		t.Errorf("redisCPU is %v, %v", got, err)
	}
	if _, err := redisCPU(nil); err == nil {
		t.Error("redisCPU takes an INFO without figures")
	}
}

func TestSettings_RefuseNothingToDo(t *testing.T) {
	t.Parallel()
	for _, s := range []Settings{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}} {
		if s.Check() == nil {
			t.Errorf("Check takes %+v", s)
		}
	}
}
