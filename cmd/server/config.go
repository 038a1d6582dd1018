package main

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/keys"
	"github.com/anteroom/anteroom/web"
)

// settings is everything that the server is told.
type settings struct {
	config.Common
	Listen     string // public address
	PublicURL  string // address that visitors know; default http://localhost:port
	Keys       keys.Files
	APIKeys    config.Secrets // for release
	ExactPolls bool           // ask Redis at every poll
	Preview    bool           // pages with invented data
	Admit      bool           // run the admission worker here too
	LimitsFile string         // policies of rate limits; empty = the built-in ones of our doors
	Proxies    []string       // networks whose forwarded headers are believed

	trusted []netip.Prefix // Proxies as networks
}

// privateNetworks are what "private" means.
var privateNetworks = []string{"127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"}

const usage = `server - the HTTP front of Anteroom, a virtual waiting room

USAGE
  server [flags]
  server explain URL    which room protects an address, and why; see server explain --help

DESCRIPTION
  Serves the queue page and the visitor API of the rooms in the rooms file, on the lines
  that Redis keeps. Run any number of servers on one Redis; run cmd/admitter beside them
  to let people in.

  Without --redis-url it starts a private redis-server if one is on PATH, or else an
  in-process stand-in, and admits people itself. Without --rooms it shows a demo room
  before a demo shop.

  Every flag has an environment variable: --redis-url is ANTEROOM_REDIS_URL.

  SIGHUP reads the rooms file and the limits file again; a bad file keeps what was in force
  and says why.
  SIGINT and SIGTERM finish the requests in flight, for at most 10 seconds; a second one
  ends the program at once.

FLAGS
`

const examples = `
EXAMPLES
  server
      everything on this machine, demo included
  server --redis-url redis://redis:6379/0 --rooms rooms.yaml --public-url https://queue.example
      production, with cmd/admitter on the same Redis and rooms file

EXIT STATUS
  0  stopped by a signal    1  could not start or go on    2  wrong settings
`

func parse(args []string, env func(string) string, out io.Writer) (settings, error) {
	var s settings
	fs := pflag.NewFlagSet("server", pflag.ContinueOnError)
	fs.StringVar(&s.Listen, "listen", ":8080", "public address")
	fs.StringVar(&s.PublicURL, "public-url", "", "address that visitors know, such as https://queue.example;\nhttps makes cookies Secure (default http://localhost:<port>)")
	s.Common.Flags(fs, "127.0.0.1:9090")
	fs.StringVar(&s.Keys.DataDir, "data-dir", "anteroom-data", "folder of the keys and of the embedded Redis")
	fs.StringVar(&s.Keys.Signing, "signing-key-file", "", "Ed25519 key that signs passes, PKCS#8 PEM (default <data-dir>/signing.pem)")
	fs.StringVar(&s.Keys.Ticket, "ticket-key-file", "", "key that signs tickets, hex (default <data-dir>/ticket.key)")
	fs.Var(&s.APIKeys, "api-keys", "keys by which origins may release visitors and services may check limits,\nseparated by commas; prefer the environment variable")
	fs.BoolVar(&s.ExactPolls, "exact-polls", false, "ask Redis at every poll; otherwise most are answered from this server's\nmemory, with a bounded error (queue/recall)")
	fs.BoolVar(&s.Preview, "preview", false, "show the states of a room's page with invented data at /r/<room>/preview?state=...")
	fs.BoolVar(&s.Admit, "admit", false, "let people in from this process too (always on with the embedded Redis)")
	fs.StringSliceVar(&s.Proxies, "trusted-proxies", []string{"private"}, "networks of the proxies that may ask the gate and whose\nX-Forwarded-* headers are believed, such as 10.1.0.0/16;\nprivate = loopback and the networks that the internet does not route\n")
	fs.StringVar(&s.LimitsFile, "limits", "", "limits file (YAML) of POST /v1/limits/<policy> and of the server's own doors;\nread again on SIGHUP")
	fs.Usage = func() { _, _ = fmt.Fprint(out, usage+fs.FlagUsages()+examples) }
	err := config.Parse(fs, args, env, out, s.problems)
	return s, err
}

func (s *settings) problems() []string {
	p := s.Common.Problems()
	p = append(p, config.ListenProblem("--listen", s.Listen)...)
	if s.RedisURL != "" && s.RoomsFile == "" {
		p = append(p, "--redis-url needs --rooms: the demo room is for the embedded Redis only")
	}
	for _, k := range s.APIKeys {
		if len(k) < 16 {
			p = append(p, "--api-keys: a key needs at least 16 characters")
		}
	}
	p = append(p, s.proxyProblems()...)
	if s.LimitsFile != "" {
		if _, err := web.ReadLimits(s.LimitsFile); err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") { // one problem of the file each
				p = append(p, "--limits: "+line)
			}
		}
	}
	if s.PublicURL != "" {
		u, err := url.Parse(s.PublicURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			p = append(p, fmt.Sprintf("--public-url is %q, want http(s)://host without a path", s.PublicURL))
		}
	}
	return p
}

// proxyProblems reads the trusted networks; an address alone is a network of one.
func (s *settings) proxyProblems() (p []string) {
	all := slices.Clone(s.Proxies)
	if i := slices.Index(all, "private"); i >= 0 {
		all = slices.Replace(all, i, i+1, privateNetworks...)
	}
	for _, text := range all {
		network, err := netip.ParsePrefix(text)
		if addr, alone := netip.ParseAddr(text); alone == nil {
			network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			p = append(p, fmt.Sprintf("--trusted-proxies has %q, want networks such as 10.0.0.0/8", text))
			continue
		}
		s.trusted = append(s.trusted, network.Masked())
	}
	return p
}

// public is the address that visitors know, given where the server listens.
func (s *settings) public(listener net.Addr) *url.URL {
	if s.PublicURL != "" {
		if u, err := url.Parse(s.PublicURL); err == nil {
			u.Path = ""
			return u
		}
	}
	host, port, err := net.SplitHostPort(listener.String())
	if ip := net.ParseIP(host); err == nil && (host == "" || ip.IsUnspecified() || ip.IsLoopback()) {
		host = "localhost"
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
}
