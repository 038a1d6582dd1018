// Package config reads what both programs are told: flags, then the environment, then
// defaults. Each flag --some-name has the variable ANTEROOM_SOME_NAME.
package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"

	"github.com/spf13/pflag"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/internal/store"
)

// ErrUsage is wrapped by every mistake in flags or environment.
var ErrUsage = errors.New("usage")

// Common is what server and admitter share.
type Common struct {
	RedisURL      string // where the line is kept; empty = embedded (server only)
	RoomsFile     string // the rooms file; empty = the demo room (server only)
	OpsListen     string // private listener: metrics, pprof
	LogFormat     string // text or json
	LogLevel      string // debug, info, warn, error
	AllowEviction bool   // accept a Redis that drops keys when full
}

// Flags adds the shared flags to fs.
func (c *Common) Flags(fs *pflag.FlagSet, opsDefault string) {
	fs.StringVar(&c.RedisURL, "redis-url", "", "Redis that keeps the lines: redis://, rediss://, unix://,\nredis+cluster://host:port?addr=host:port, redis+sentinel://host:port?master_name=name")
	fs.StringVar(&c.RoomsFile, "rooms", "", "rooms file (YAML); read again on SIGHUP")
	fs.StringVar(&c.OpsListen, "ops-listen", opsDefault, "private address of /metrics and /debug/pprof; empty = off")
	fs.StringVar(&c.LogFormat, "log-format", "text", "text or json")
	fs.StringVar(&c.LogLevel, "log-level", "info", "debug, info, warn or error")
	fs.BoolVar(&c.AllowEviction, "allow-eviction", false, "start even if Redis may evict keys: visitors can then lose their places")
}

// Parse reads args into fs, fills flags that were not given from the environment, and
// asks problems what is wrong with the settings together. It reports every mistake at once;
// only a flag that does not exist or has no readable value ends the reading of args, and
// then stands alone, because what follows it was not read. pflag.ErrHelp means that help
// was asked for and printed to out.
func Parse(fs *pflag.FlagSet, args []string, env func(string) string, out io.Writer, problems func() []string) error {
	fs.SetOutput(out)
	fs.SortFlags = false
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	var found []string
	for _, arg := range fs.Args() {
		found = append(found, fmt.Sprintf("unexpected argument %q", arg))
	}
	fs.VisitAll(func(f *pflag.Flag) {
		name := EnvName(f.Name)
		if v := env(name); v != "" && !f.Changed {
			if err := fs.Set(f.Name, v); err != nil {
				found = append(found, name+": "+err.Error())
			}
		}
	})
	return Refuse(append(found, problems()...))
}

// EnvName is the environment variable of a flag.
func EnvName(flag string) string {
	return "ANTEROOM_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// ExitCode reports how a program ended: 0 well or after help, 2 on wrong settings, 1 else.
// It prints what went wrong to out.
func ExitCode(program string, err error, out io.Writer) int {
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return 0
	case errors.Is(err, ErrUsage):
		_, _ = fmt.Fprintf(out, "%v\n%s --help says more.\n", err, program)
		return 2
	}
	_, _ = fmt.Fprintf(out, "%s: %v\n", program, err)
	return 1
}

// Problems lists what is wrong with the shared settings.
func (c *Common) Problems() []string {
	var p []string
	if c.LogFormat != "text" && c.LogFormat != "json" {
		p = append(p, fmt.Sprintf("--log-format is %q, want text or json", c.LogFormat))
	}
	if err := new(slog.LevelVar).UnmarshalText([]byte(c.LogLevel)); err != nil {
		p = append(p, fmt.Sprintf("--log-level is %q, want debug, info, warn or error", c.LogLevel))
	}
	if c.OpsListen != "" {
		p = append(p, ListenProblem("--ops-listen", c.OpsListen)...)
	}
	if c.RedisURL != "" {
		if rdb, err := store.Open(c.RedisURL); err != nil {
			p = append(p, "--redis-url: "+err.Error())
		} else {
			_ = rdb.Close()
		}
	}
	if c.RoomsFile != "" {
		if _, err := rooms.Open(c.RoomsFile); err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") { // one problem of the file each
				p = append(p, "--rooms: "+line)
			}
		}
	}
	return p
}

// ListenProblem checks an address to listen on.
func ListenProblem(flag, address string) []string {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port) // a number, or a name such as http
	}
	if err != nil || port == "" {
		return []string{fmt.Sprintf("%s is %q, want host:port or :port, with a port from 0 to 65535", flag, address)}
	}
	return nil
}

// Secrets is a list of secrets as a flag: separated by commas, without the space around
// them. It reads anything and shows nothing, so that no message and no help has a secret.
type Secrets []string

// Set adds the secrets of text.
func (s *Secrets) Set(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one != "" {
			*s = append(*s, one)
		}
	}
	return nil
}

// String shows nothing.
func (*Secrets) String() string { return "" }

// Type names the value in the help.
func (*Secrets) Type() string { return "strings" }

// Refuse turns problems into one error, nil for none.
func Refuse(problems []string) error {
	var errs []error
	for _, p := range problems {
		errs = append(errs, fmt.Errorf("%w: %s", ErrUsage, p))
	}
	return errors.Join(errs...)
}

// Logger writes to w as the settings say.
func (c *Common) Logger(w io.Writer) *slog.Logger {
	level := new(slog.LevelVar)
	_ = level.UnmarshalText([]byte(c.LogLevel)) // checked by Problems
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
