package rehearse

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// ErrUsage is wrapped by every mistake in the flags.
var ErrUsage = errors.New("rehearse: usage")

// Config is what a rehearsal is told.
type Config struct {
	URLs     []string      // servers; each request goes to one of them at random
	Room     string        // the room
	APIKey   string        // leave through the origin's API with this key; "" = by the ticket
	Through  []string      // pages of the shop behind the gate; empty = ask the API alone
	Target   string        // where visitors say they want to go; "" = the room's default
	Visitors int           // how many
	Arrive   time.Duration // time over which they arrive
	Leave    Share         // give up while they wait
	Sleep    Share         // go silent while they wait, and come back
	NoShow   Share         // never claim their turn
	Probe    Share         // also claim twice, ask again after they left, and look at the shop meanwhile and then
	Within   time.Duration // leavers and sleepers do so at a random time up to this after joining
	SleepFor time.Duration // silence of a sleeper
	Session  time.Duration // time inside
	Rules                  // what the history is held against; Capacity 0 = what the room's status says

	Seed           uint64        // of the plan; 0 = a random one
	Timeout        time.Duration // of the whole run
	RequestTimeout time.Duration // of one request; the page's is 10 s
	Connections    int           // a server
	JSON           bool          // print the report as JSON

	// Transport, optional, sends the requests; nil = keep-alive TCP connections.
	Transport http.RoundTripper
}

// Share is a part of the crowd, from 0 to 1.
type Share float64

// Set reads 10% or 0.1.
func (s *Share) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	f, err := strconv.ParseFloat(number, 64)
	if percent {
		f /= 100
	}
	if err != nil || !(f >= 0 && f <= 1) {
		return fmt.Errorf("want a share such as 10%% or 0.1, at most 100%%")
	}
	*s = Share(f)
	return nil
}

// String writes a percentage.
func (s *Share) String() string { return strconv.FormatFloat(float64(*s)*100, 'g', 6, 64) + "%" }

// Type names the value in the help.
func (*Share) Type() string { return "share" }

// Defaults are the settings of a rehearsal without flags, but for URLs and Room.
func Defaults() Config {
	return Config{
		Visitors: 1000, Arrive: 10 * time.Second, Leave: 0.1, Sleep: 0.1, NoShow: 0.05, Probe: 0.1,
		Within: 30 * time.Second, SleepFor: 45 * time.Second, Session: 2 * time.Second,
		Rules:   Rules{Heartbeat: 30 * time.Second, KeepPlace: 10 * time.Minute},
		Timeout: 10 * time.Minute, RequestTimeout: 10 * time.Second, Connections: 64,
	}
}

func (c *Config) flags() *pflag.FlagSet {
	fs := pflag.NewFlagSet("rehearse", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.StringSliceVar(&c.URLs, "url", []string{"http://127.0.0.1:8080"}, "servers, separated by commas; each request goes to one at random,\nand to another when that one cannot be reached")
	fs.StringVar(&c.Room, "room", "demo", "the room")
	fs.StringArrayVar(&c.Through, "through", nil, "a page of the shop: visitors walk to it through the gate as a browser does.\nMay be repeated; each visitor wants one of them. The room and the server are\nthose of the queue page that comes; a --room that is given must be that one, and\n--url is asked for the room's status alone, if no queue page comes")
	fs.IntVar(&c.Visitors, "visitors", c.Visitors, "how many come")
	fs.DurationVar(&c.Arrive, "arrive", c.Arrive, "they arrive evenly at random over this time")
	fs.Var(&c.Leave, "leave", "share that gives up while waiting")
	fs.Var(&c.Sleep, "sleep", "share that goes silent while waiting and comes back")
	fs.Var(&c.NoShow, "noshow", "share that never claims its turn")
	fs.DurationVar(&c.Within, "within", c.Within, "leaving and falling asleep happen at a random time up to this after joining")
	fs.DurationVar(&c.SleepFor, "sleep-for", c.SleepFor, "how long a sleeper is silent: longer than the heartbeat, shorter than keep_place")
	fs.DurationVar(&c.Session, "session", c.Session, "time inside")
	fs.Var(&c.Probe, "probe", "share that also claims a second time while inside, and asks once more after it left;\nwith --through it also loads the page again inside, and 1.5 s after it left")
	fs.StringVar(&c.APIKey, "api-key", "", "leave through the origin's release API with this key, not by the ticket")
	fs.StringVar(&c.Target, "target", "", "where the visitors say that they want to go")
	fs.IntVar(&c.Capacity, "capacity", 0, "most people that may be inside at once; 0 = as the room's public status says")
	fs.IntVar(&c.AllowOver, "allow-over", 0, "allow so many more than the capacity, because the store is wiped in the run;\nthe report says so, and judges the order before and after the wipe apart")
	fs.BoolVar(&c.AllowStraight, "allow-straight", false, "with --through: visitors may get to the shop without a pass")
	fs.DurationVar(&c.Heartbeat, "heartbeat", c.Heartbeat, "the room's heartbeat")
	fs.DurationVar(&c.KeepPlace, "keep-place", c.KeepPlace, "the room's keep_place")
	fs.Uint64Var(&c.Seed, "seed", 0, "seed of the plan (who does what when); 0 = a random one, which is reported")
	fs.DurationVar(&c.Timeout, "timeout", c.Timeout, "the run ends after this time; who is not through then is lost")
	fs.DurationVar(&c.RequestTimeout, "request-timeout", c.RequestTimeout, "a request without an answer is given up and sent again after this time")
	fs.IntVar(&c.Connections, "connections", c.Connections, "connections a server at most")
	fs.BoolVar(&c.JSON, "json", false, "print the report as JSON")
	return fs
}

// Parse reads the flags and reports every mistake. pflag.ErrHelp means that help was
// printed to out.
func Parse(args []string, out io.Writer) (Config, error) {
	c := Defaults()
	fs := c.flags()
	fs.SetOutput(out)
	fs.Usage = func() { _, _ = fmt.Fprint(out, usage, fs.FlagUsages(), manual) }
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return c, err
		}
		return c, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if len(c.Through) > 0 { // the defaults are not meant then
		if !fs.Changed("url") {
			c.URLs = nil
		}
		if !fs.Changed("room") {
			c.Room = ""
		}
	}
	var errs []error
	if fs.NArg() > 0 {
		errs = append(errs, fmt.Errorf("%w: unexpected argument %q", ErrUsage, fs.Arg(0)))
	}
	for _, p := range c.problems() {
		errs = append(errs, fmt.Errorf("%w: %s", ErrUsage, p))
	}
	return c, errors.Join(errs...)
}

// whereProblems are those of the servers and the room.
func (c *Config) whereProblems() []string {
	var p []string
	for _, text := range c.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
			p = append(p, fmt.Sprintf("--url is %q, want http://host:port", text))
		}
	}
	if len(c.Through) > 0 {
		p = append(p, c.gateProblems()...)
	} else {
		if len(c.URLs) == 0 {
			p = append(p, "--url is empty")
		}
		if c.Room == "" {
			p = append(p, "--room is empty")
		}
		if c.AllowStraight {
			p = append(p, "--allow-straight is for --through")
		}
	}
	return p
}

// gateProblems are those of a walk through the gate.
func (c *Config) gateProblems() []string {
	var p []string
	for _, text := range c.Through {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" || u.User != nil {
			p = append(p, fmt.Sprintf("--through is %q, want an address such as https://shop.example/sale?a=1", text))
		}
	}
	if c.Target != "" {
		p = append(p, "--target is what the queue page says, with --through")
	}
	if len(c.URLs) > 0 && c.Room == "" {
		p = append(p, "--url needs --room, with --through")
	}
	return p
}

func (c *Config) problems() []string {
	p := c.whereProblems()
	if c.Leave+c.Sleep+c.NoShow > 1 {
		p = append(p, "--leave, --sleep and --noshow are more than everybody")
	}
	for _, n := range []struct {
		flag               string
		value, least, most int
	}{
		{"--visitors", c.Visitors, 1, 1_000_000},
		{"--connections", c.Connections, 1, 10_000},
		{"--capacity", c.Capacity, 0, 10_000_000},
		{"--allow-over", c.AllowOver, 0, 10_000_000},
	} {
		if n.value < n.least || n.value > n.most {
			p = append(p, fmt.Sprintf("%s is %d, want %d to %d", n.flag, n.value, n.least, n.most))
		}
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
		least time.Duration
	}{
		{"--arrive", c.Arrive, 0}, {"--within", c.Within, 0}, {"--sleep-for", c.SleepFor, 0}, {"--session", c.Session, 0},
		{"--heartbeat", c.Heartbeat, time.Millisecond}, {"--keep-place", c.KeepPlace, time.Millisecond},
		{"--timeout", c.Timeout, time.Millisecond}, {"--request-timeout", c.RequestTimeout, time.Millisecond},
	} {
		if d.value < d.least {
			p = append(p, fmt.Sprintf("%s is %s, want at least %s", d.flag, d.value, d.least))
		}
	}
	return p
}
