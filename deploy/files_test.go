//go:build unix

package deploy_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/web/page"
)

// read parses a file strictly into what a test knows of it: an unknown or doubled field is
// an error.
func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// traefik is the part of Traefik's dynamic configuration that we use.
type traefik struct {
	HTTP struct {
		Routers map[string]struct {
			Rule        string
			Priority    int
			Middlewares []string
			Service     string
		}
		Middlewares map[string]struct {
			Headers *struct {
				CustomRequestHeaders map[string]string `yaml:"customRequestHeaders"`
			}
			ForwardAuth *struct {
				Address                  string
				TrustForwardHeader       *bool    `yaml:"trustForwardHeader"`
				AuthResponseHeadersRegex string   `yaml:"authResponseHeadersRegex"`
				AddAuthCookiesToResponse []string `yaml:"addAuthCookiesToResponse"`
			} `yaml:"forwardAuth"`
		}
		Services map[string]struct {
			LoadBalancer struct {
				Servers []struct{ URL string }
			} `yaml:"loadBalancer"`
		}
	}
}

// Traefik cannot be run here: the file says what docs/integration.md promises of it.
func TestTraefik_FileSaysWhatMatters(t *testing.T) {
	t.Parallel()
	var c traefik
	read(t, "traefik/dynamic.yaml", &c)
	shop, ours := c.HTTP.Routers["shop"], c.HTTP.Routers["anteroom"]
	if !slices.Equal(shop.Middlewares, []string{"anteroom-forget", "anteroom-gate"}) || len(ours.Middlewares) != 0 || ours.Priority <= shop.Priority {
		t.Errorf("the routers are %+v", c.HTTP.Routers)
	}
	for _, prefix := range []string{"/r/", "/v1/rooms/", page.StaticPrefix} {
		if !strings.Contains(ours.Rule, "PathPrefix(`"+prefix+"`)") {
			t.Errorf("%s does not lead to Anteroom", prefix)
		}
	}
	for name, r := range c.HTTP.Routers {
		s, ok := c.HTTP.Services[r.Service]
		if want := map[string]string{"shop": "http://127.0.0.1:3000", "anteroom": "http://127.0.0.1:8080"}[name]; !ok || len(s.LoadBalancer.Servers) != 1 || s.LoadBalancer.Servers[0].URL != want {
			t.Errorf("%s leads to %+v", name, s)
		}
		for _, m := range r.Middlewares {
			if _, ok := c.HTTP.Middlewares[m]; !ok {
				t.Errorf("%s has no middleware %s", name, m)
			}
		}
	}
	gate := c.HTTP.Middlewares["anteroom-gate"].ForwardAuth
	if gate == nil || gate.Address != "http://127.0.0.1:8080/gate?for=traefik" || gate.TrustForwardHeader == nil || *gate.TrustForwardHeader ||
		!slices.Equal(gate.AddAuthCookiesToResponse, []string{pass.CookieName("sale")}) {
		t.Fatalf("the gate is %+v", gate)
	}
	owned := regexp.MustCompile(gate.AuthResponseHeadersRegex)
	for _, name := range append(namesOf(forged, "forged"), pass.HeaderPass) {
		if !owned.MatchString(name) {
			t.Errorf("a client may forge %s", name)
		}
	}
	for _, name := range []string{"Set-Cookie", "Cookie", "X-Forwarded-Host", "Anteroomy", "X-My-Anteroom-Visitor"} {
		if owned.MatchString(name) {
			t.Errorf("%s is taken for ours", name)
		}
	}
	forget := c.HTTP.Middlewares["anteroom-forget"].Headers
	for _, name := range []string{"X-Original-Method", "X-Original-Proto", "X-Original-Host", "X-Original-Uri", "X-Original-Url"} {
		if value, ok := forget.CustomRequestHeaders[name]; !ok || value != "" {
			t.Errorf("%s of a client is not forgotten", name)
		}
	}
}

// namesOf are the headers of a list of pairs that have a value.
func namesOf(pairs []string, value string) []string {
	var names []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == value {
			names = append(names, pairs[i])
		}
	}
	return names
}

// anyOf is what we know of a part of Envoy's configuration: @type and the fields below it.
type anyOf[T any] struct {
	Type   string `yaml:"@type"`
	Fields T      `yaml:",inline"`
}

type patterns struct {
	Patterns []struct{ Exact, Prefix string }
}

func (p patterns) has(exact string) bool {
	return slices.ContainsFunc(p.Patterns, func(m struct{ Exact, Prefix string }) bool {
		return m.Exact == exact || m.Prefix != "" && strings.HasPrefix(exact, m.Prefix)
	})
}

type socket struct {
	SocketAddress struct {
		Address   string
		PortValue int `yaml:"port_value"`
	} `yaml:"socket_address"`
}

type manager struct {
	StatPrefix       string `yaml:"stat_prefix"`
	UseRemoteAddress bool   `yaml:"use_remote_address"`
	CommonHTTP       struct {
		HeadersWithUnderscores string `yaml:"headers_with_underscores_action"`
	} `yaml:"common_http_protocol_options"`
	UpgradeConfigs []struct {
		UpgradeType string `yaml:"upgrade_type"`
	} `yaml:"upgrade_configs"`
	RouteConfig struct {
		VirtualHosts []struct {
			Name    string
			Domains []string
			Remove  []string `yaml:"request_headers_to_remove"`
			Routes  []struct {
				Match struct {
					SafeRegex struct{ Regex string } `yaml:"safe_regex"`
					Prefix    string
				}
				Route     struct{ Cluster string }
				PerFilter map[string]anyOf[struct{ Disabled bool }] `yaml:"typed_per_filter_config"`
			}
		} `yaml:"virtual_hosts"`
	} `yaml:"route_config"`
	HTTPFilters []struct {
		Name  string
		Typed anyOf[filter] `yaml:"typed_config"`
	} `yaml:"http_filters"`
}

// filter has the fields of the three filters that we use.
type filter struct {
	Mutations struct {
		Request []struct{ Remove string } `yaml:"request_mutations"`
	}
	FailureModeAllow *bool                 `yaml:"failure_mode_allow"`
	StatusOnError    struct{ Code string } `yaml:"status_on_error"`
	HTTPService      struct {
		ServerURI struct {
			URI, Cluster, Timeout string
		} `yaml:"server_uri"`
		PathPrefix string `yaml:"path_prefix"`
		Request    struct {
			Allowed patterns `yaml:"allowed_headers"`
		} `yaml:"authorization_request"`
		Response struct {
			Upstream        patterns `yaml:"allowed_upstream_headers"`
			ClientOnSuccess patterns `yaml:"allowed_client_headers_on_success"`
			Client          patterns `yaml:"allowed_client_headers"`
		} `yaml:"authorization_response"`
	} `yaml:"http_service"`
}

type envoy struct {
	Static struct {
		Listeners []struct {
			Name    string
			Address socket
			Chains  []struct {
				Filters []struct {
					Name  string
					Typed anyOf[manager] `yaml:"typed_config"`
				}
			} `yaml:"filter_chains"`
		}
		Clusters []struct {
			Name           string
			Type           string
			ConnectTimeout string `yaml:"connect_timeout"`
			Load           struct {
				ClusterName string `yaml:"cluster_name"`
				Endpoints   []struct {
					LB []struct{ Endpoint struct{ Address socket } } `yaml:"lb_endpoints"`
				}
			} `yaml:"load_assignment"`
		}
	} `yaml:"static_resources"`
}

// Envoy cannot be run here: the file says what docs/integration.md promises of it.
func TestEnvoy_FileSaysWhatMatters(t *testing.T) {
	t.Parallel()
	var c envoy
	read(t, "envoy/envoy.yaml", &c)
	ports := map[string]int{}
	for _, cluster := range c.Static.Clusters {
		at := cluster.Load.Endpoints[0].LB[0].Endpoint.Address.SocketAddress
		if ports[cluster.Name] = at.PortValue; at.Address != "127.0.0.1" || cluster.Load.ClusterName != cluster.Name {
			t.Errorf("cluster %s is %+v", cluster.Name, cluster)
		}
	}
	if ports["anteroom"] != 8080 || ports["shop"] != 3000 || len(ports) != 2 {
		t.Errorf("the clusters have the ports %v", ports)
	}
	m := c.Static.Listeners[0].Chains[0].Filters[0].Typed.Fields
	if m.CommonHTTP.HeadersWithUnderscores != "DROP_HEADER" || !m.UseRemoteAddress {
		t.Errorf("a client may forge our headers with underscores, or its scheme: %+v", m)
	}
	wantRoutes(t, m)
	if len(m.HTTPFilters) != 3 || m.HTTPFilters[2].Name != "envoy.filters.http.router" {
		t.Fatalf("the filters are %+v", m.HTTPFilters)
	}
	for i, at := range []string{"header_mutation.v3.HeaderMutation", "ext_authz.v3.ExtAuthz"} {
		if f := m.HTTPFilters[i]; f.Typed.Type != "type.googleapis.com/envoy.extensions.filters.http."+at {
			t.Errorf("filter %d is %s", i, f.Typed.Type)
		}
	}
	removed := map[string]bool{}
	for _, r := range m.HTTPFilters[0].Typed.Fields.Mutations.Request {
		removed[r.Remove] = true
	}
	for _, name := range namesOf(forged, "forged") {
		if name = strings.ToLower(name); !strings.Contains(name, "_") && !removed[name] {
			t.Errorf("a client may forge %s", name)
		}
	}
	if removed["anteroom-pass"] {
		t.Error("the gate never sees a pass in a header")
	}
	wantExtAuthz(t, m.HTTPFilters[1].Typed.Fields)
}

func wantRoutes(t *testing.T, m manager) {
	t.Helper()
	host := m.RouteConfig.VirtualHosts[0]
	if len(host.Routes) != 2 || !slices.Contains(host.Remove, "anteroom-pass") {
		t.Fatalf("the host is %+v", host)
	}
	ours, shop := host.Routes[0], host.Routes[1]
	path := regexp.MustCompile("^(?:" + ours.Match.SafeRegex.Regex + ")$") // Envoy matches the whole path
	for _, p := range []string{"/r/sale", "/v1/rooms/sale/ticket", page.StaticPrefix + "queue.js"} {
		if !path.MatchString(p) {
			t.Errorf("%s does not lead to Anteroom", p)
		}
	}
	for _, p := range []string{"/", "/rest", "/shop/r/x", "/gate", "/v1/limits/x"} {
		if path.MatchString(p) {
			t.Errorf("%s leads to Anteroom", p)
		}
	}
	if ours.Route.Cluster != "anteroom" || !ours.PerFilter["envoy.filters.http.ext_authz"].Fields.Disabled {
		t.Errorf("our paths are %+v", ours)
	}
	if shop.Match.Prefix != "/" || shop.Route.Cluster != "shop" || len(shop.PerFilter) != 0 {
		t.Errorf("the shop's are %+v", shop)
	}
}

func wantExtAuthz(t *testing.T, f filter) {
	t.Helper()
	s := f.HTTPService
	if f.FailureModeAllow == nil || *f.FailureModeAllow || f.StatusOnError.Code != "ServiceUnavailable" || s.PathPrefix != "/gate/envoy" || s.ServerURI.Cluster != "anteroom" || s.ServerURI.Timeout == "" {
		t.Errorf("the gate is %+v", f)
	}
	for _, name := range []string{"cookie", "accept", "content-type", "origin", "referer", "x-requested-with", "x-forwarded-proto", "sec-fetch-mode", "sec-fetch-dest", "access-control-request-method", "anteroom-pass"} {
		if !s.Request.Allowed.has(name) {
			t.Errorf("the gate is not told %s", name)
		}
	}
	for _, name := range []string{"x-forwarded-uri", "x-forwarded-method", "x-original-url", "content-length"} {
		if s.Request.Allowed.has(name) {
			t.Errorf("the gate is told a client's %s", name)
		}
	}
	for _, name := range []string{"anteroom-visitor", "anteroom-room"} {
		if !s.Response.Upstream.has(name) {
			t.Errorf("the shop is not told %s", name)
		}
	}
	if !s.Response.ClientOnSuccess.has("set-cookie") {
		t.Error("a renewed pass reaches nobody")
	}
	for _, name := range []string{"location", "set-cookie", "cache-control", "content-type", "retry-after", "vary", "access-control-allow-origin", "access-control-expose-headers"} {
		if !s.Response.Client.has(name) {
			t.Errorf("visitors are not told %s", name)
		}
	}
}
