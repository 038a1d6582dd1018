package pass

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxAnswer is the longest answer of Anteroom that is read, in bytes: a pass and a little.
const maxAnswer = 16 << 10

// maxIdle is how many connections to Anteroom are kept: the standard client keeps two, and
// would open a new one for almost every check of a busy site.
const maxIdle = 64

// errStatus is an answer other than 200.
type errStatus int

func (e errStatus) Error() string { return fmt.Sprintf("Anteroom answered %d", int(e)) }

// newClient talks to Anteroom. It follows no redirects: what is sent is a secret.
func newClient(timeout time.Duration) *http.Client {
	c := &http.Client{Timeout: timeout, CheckRedirect: noRedirect}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.MaxIdleConnsPerHost = maxIdle
		c.Transport = t
	}
	return c
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// endpoint is the address of a room's call. anteroom is scheme and host.
func endpoint(anteroom, room, call string) string {
	return anteroom + "/v1/rooms/" + url.PathEscape(room) + "/" + call
}

// post sends in as JSON and reads the JSON of a 200 into out. Any other status is an
// errStatus. It blocks until ctx ends at most.
func post(ctx context.Context, client *http.Client, address string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return errStatus(resp.StatusCode)
	case err != nil:
		return err
	case len(data) > maxAnswer:
		return fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	case json.Unmarshal(data, out) != nil:
		return errors.New("the answer is not the JSON that was expected")
	}
	return nil
}
