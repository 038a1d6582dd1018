package deliver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// HeaderAttempt carries the attempt number in decimal; 1 is the first.
const HeaderAttempt = "Anteroom-Attempt"

// MaxBody is the largest body that is sent, in bytes.
const MaxBody = 256 << 10

// answerGrace is how long the body of an answer whose status is known may take. It only
// holds the beginning of an error text, and a slow one holds a place that others need.
const answerGrace = time.Second

// Delivery is one attempt at one job.
type Delivery struct {
	// ID is the same on every attempt: 1 to 128 of A-Z, a-z, 0-9, "_" and "-".
	ID string
	// Attempt is 1 for the first.
	Attempt int
	// URL is the destination; see CheckURL.
	URL string
	// Body is sent as it is, at most MaxBody bytes. It must not be changed any more, also
	// after Deliver returned: a connection may still be reading it.
	Body []byte
	// ContentType is sent as it is. Default application/json.
	ContentType string
}

// Deliverer makes deliveries for one queue. It is safe for concurrent use and keeps idle
// connections until Close.
type Deliverer struct {
	cfg       Config
	signer    signer
	headers   http.Header
	transport *http.Transport
}

// New checks the configuration and reports every mistake at once; the error wraps ErrConfig.
func New(cfg Config) (*Deliverer, error) { return newDeliverer(cfg, productionHooks()) }

func newDeliverer(cfg Config, hooks hooks) (*Deliverer, error) {
	cfg = cfg.withDefaults()
	signer, errSecrets := newSigner(cfg.Secrets)
	transport, errTransport := newTransport(cfg, hooks)
	if err := errors.Join(cfg.validate(), errSecrets, errTransport); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	headers := http.Header{"User-Agent": {"Anteroom"}}
	for name, value := range cfg.Headers {
		headers.Set(name, value)
	}
	return &Deliverer{cfg: cfg, signer: signer, headers: headers, transport: transport}, nil
}

// Close closes the idle connections. Call it when every Deliver has returned.
func (d *Deliverer) Close() { d.transport.CloseIdleConnections() }

// Deliver makes one attempt and blocks until it ends, for Config.Timeout at most. Whatever
// goes wrong is in the result. When ctx ends first the outcome is Cancelled, and the job may
// have arrived all the same.
func (d *Deliverer) Deliver(ctx context.Context, job Delivery) Result {
	began := d.cfg.Now()
	result := d.attempt(ctx, job, began)
	result.Reason = clip(result.Reason, maxReason)
	result.Took = d.cfg.Now().Sub(began)
	return result
}

// attempt is Deliver without what every result gets.
func (d *Deliverer) attempt(ctx context.Context, job Delivery, now time.Time) Result {
	timed, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	traced, progress := follow(timed)
	request, err := d.request(traced, job, now)
	if err != nil {
		return refused(err)
	}
	answer, err := d.transport.RoundTrip(request)
	if err != nil {
		return failed(err, ctx.Err() != nil, progress.stage(), d.cfg.Timeout)
	}
	defer answer.Body.Close() //nolint:errcheck // nothing was written to it
	result := d.judge(answer, d.cfg.Now())
	result.Snippet = snippet(answer.Body, cancel)
	return result
}

// request builds the request, signed over exactly the bytes that are sent.
func (d *Deliverer) request(ctx context.Context, job Delivery, now time.Time) (*http.Request, error) {
	if err := job.check(); err != nil {
		return nil, err
	}
	to, err := parseURL(job.URL, d.cfg.AllowPrivate)
	if err != nil {
		return nil, err
	}
	signature, err := d.signer.sign(job.ID, now, job.Body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(job.Body))
	if err != nil {
		return nil, fmt.Errorf("%w: is no URL", ErrURL)
	}
	request.Header = d.headers.Clone()
	request.Header.Set("Content-Type", job.contentType())
	request.Header.Set(standardwebhooks.HeaderWebhookID, job.ID)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	if signature != "" {
		request.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	}
	request.Header.Set(HeaderAttempt, strconv.Itoa(job.Attempt))
	return request, nil
}

// ErrJob is wrapped by what is wrong with a job itself.
var ErrJob = errors.New("deliver: job")

// check says what keeps the job from ever being sent.
func (job Delivery) check() error {
	// A dot would make "id.timestamp.body" readable in two ways.
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	switch {
	case job.ID == "" || len(job.ID) > 128 || strings.Trim(job.ID, allowed) != "":
		return fmt.Errorf("%w: the id %q is not 1 to 128 letters, digits, _ or -", ErrJob, clip(job.ID, 128))
	case job.Attempt < 1:
		return fmt.Errorf("%w: attempt is %d, want 1 or more", ErrJob, job.Attempt)
	case len(job.Body) > MaxBody:
		return fmt.Errorf("%w: the body is %d bytes, over %d", ErrJob, len(job.Body), MaxBody)
	}
	contentType := job.contentType()
	_, _, err := mime.ParseMediaType(contentType)
	if err != nil || len(contentType) > 256 || !isFieldValue(contentType) {
		return fmt.Errorf("%w: the content type %q is not valid", ErrJob, clip(contentType, 256))
	}
	return nil
}

func (job Delivery) contentType() string {
	if job.ContentType == "" {
		return "application/json"
	}
	return job.ContentType
}

// snippet reads the beginning of body. An answer that ends within MaxSnippet
// leaves its connection usable; the rest of a longer one is not read, and one that stalls
// is cut off by cancel.
func snippet(body io.Reader, cancel context.CancelFunc) string {
	defer time.AfterFunc(answerGrace, cancel).Stop()
	begin, _ := io.ReadAll(io.LimitReader(body, MaxSnippet+1)) // an error ends it, as EOF does
	return clip(string(begin), MaxSnippet)
}
