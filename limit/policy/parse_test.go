package policy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/policy"
)

const sound = `policies:
  - name: api
    mode: shadow
    on_store_error: local
    share: 0.25
    rules:
      - name: user
        key: [user, header:x-api-key]
        algorithm: gcra
        rate: 100/1m
        burst: 20
        max_cost: 5
      - {name: all, key: [global], algorithm: fixed_window, rate: 5000/s, burst: 5000, max_cost: 5}
`

func TestParse_SoundFile(t *testing.T) {
	t.Parallel()
	all, err := policy.Parse("limits.yaml", []byte(sound))
	if err != nil || len(all) != 1 || len(all[0].Rules) != 2 {
		t.Fatalf("%d policies, %v; want one of two rules", len(all), err)
	}
	p := all[0]
	if p.Name != "api" || p.Direction != policy.Inbound || p.Mode != policy.Shadow || p.OnStore != policy.Local || p.Share != 0.25 {
		t.Errorf("the policy is %+v", p)
	}
	want := limit.Rule{Name: "api_user", Algorithm: limit.GCRA, Rate: limit.Rate{Count: 100, Per: time.Minute}, Burst: 20, MaxCost: 5}
	if got := p.Rules[0].Limit.Rule(); got != want {
		t.Errorf("the rule is %+v, want %+v", got, want)
	}
	if got := p.Rules[0].Parts[1]; got != "header:X-Api-Key" {
		t.Errorf("the part is %s, want the header's canonical name", got)
	}
	if got := p.Rules[0].Local.Rule(); got.Burst != 5 || got.Rate.Count != 100 || got.Rate.Per != 4*time.Minute {
		t.Errorf("a quarter of it is %+v, want 100 in 4m and a burst of 5", got)
	}
}

// RL-01 and the like: a value that would limit nothing, or everybody for ever, is refused
// when the file is read, with its line.
func TestParse_RL01_AbsurdValuesHaveTheirLine(t *testing.T) {
	t.Parallel()
	_, rules, _ := strings.Cut(sound, "share: 0.25\n")
	for name, c := range map[string]struct{ old, new, want string }{
		"no burst":              {"        burst: 20\n", "", "limits.yaml:7: burst is missing"},
		"burst 0":               {"burst: 20", "burst: 0", `limits.yaml:11: burst is "0"`},
		"burst below 0":         {"burst: 20", "burst: -1", `limits.yaml:11: burst is "-1"`},
		"burst too long":        {"burst: 20", "burst: 99999999999999999999", "limits.yaml:11: burst is"},
		"burst that overflows":  {"burst: 20", "burst: 9000000000000000000", "limits.yaml:7: "},
		"burst without value":   {"burst: 20", "burst:", "limits.yaml:11: burst has no value"},
		"burst with a fraction": {"burst: 20", "burst: 1.5", "limits.yaml:11: burst is"},
		"cost above burst":      {"max_cost: 5\n", "max_cost: 21\n", "max cost 21 is above burst 20"},
		"rate 0":                {"100/1m", "0/1m", "limits.yaml:10: rate is"},
		"rate in 0":             {"100/1m", "100/0m", "limits.yaml:10: rate is"},
		"rate below 0":          {"100/1m", "-1/1m", "limits.yaml:10: rate is"},
		"rate without unit":     {"100/1m", "100", "limits.yaml:10: rate is"},
		"a bad unit":            {"100/1m", "100/1week", "limits.yaml:10: rate is"},
		"a rate too long":       {"100/1m", "100/400d", "limits.yaml:7: "},
		"a time that overflows": {"100/1m", "100/999999999d", "limits.yaml:10: rate is"},
		"unknown field":         {"burst: 20", "burst: 20\n        brust: 3", `limits.yaml:12: unknown field "brust"`},
		"field twice":           {"burst: 20", "burst: 20\n        burst: 3", `limits.yaml:12: a rule has "burst" twice`},
		"unknown algorithm":     {"algorithm: gcra", "algorithm: magic", "limits.yaml:9: algorithm is"},
		"unknown part":          {"[user,", "[cookie,", `limits.yaml:8: key has "cookie"`},
		"a part twice":          {"[user,", "[user, user,", "limits.yaml:8: key has user twice"},
		"global and others":     {"[user,", "[global,", "limits.yaml:8: key has global and others"},
		"no header":             {"header:x-api-key", `"header:a b"`, "limits.yaml:8: key has"},
		"rules of one name":     {"{name: all", "{name: user", `limits.yaml:13: name "user" is taken, by line 7`},
		"a bad mode":            {"shadow", "dry", "limits.yaml:3: mode is"},
		"no word on the store":  {"    on_store_error: local\n    share: 0.25\n", "", "limits.yaml:2: on_store_error is missing"},
		"local without share":   {"    share: 0.25\n", "", "limits.yaml:4: share and on_store_error"},
		"share without local":   {"error: local", "error: fail_open", "share and on_store_error"},
		"share 0":               {"0.25", "0", "limits.yaml:5: share is"},
		"share NaN":             {"0.25", ".nan", "limits.yaml:5: share is"},
		"share above 1":         {"0.25", "1.5", "limits.yaml:5: share is"},
		"a window's other size": {"burst: 5000", "burst: 50", "write burst 5000"},
		"no rules":              {rules, "    rules: []\n", "rules is empty"},
		"another top":           {"policies:", "limits:", `limits.yaml:1: unknown field "limits"`},
		"torn":                  {"policies:", "policies: [", "not YAML"},
		"two documents":         {"policies:", "policies: []\n---\npolicies:", "a second document"},
		"nothing":               {sound, "", "no policies"},
	} {
		text := strings.Replace(sound, c.old, c.new, 1)
		if text == sound {
			t.Fatalf("%s: the row changes nothing", name)
		}
		_, err := policy.Parse("limits.yaml", []byte(text))
		if !errors.Is(err, policy.ErrFile) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	twice := sound + strings.TrimPrefix(sound, "policies:\n")
	if _, err := policy.Parse("limits.yaml", []byte(twice)); err == nil || !strings.Contains(err.Error(), `limits.yaml:14: name "api" is taken, by line 2`) {
		t.Errorf("policies of one name: %v", err)
	}
	if _, err := policy.Parse("limits.yaml", make([]byte, 1<<20+1)); !errors.Is(err, policy.ErrFile) {
		t.Errorf("a file above 1 MiB: %v", err)
	}
}

// FuzzPolicy: any file is read, or refused with file and line; what is read can be used.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte(sound))
	f.Add([]byte("policies: &a\n- *a"))
	f.Add([]byte("policies:\n- name: x\n  on_store_error: fail_open\n  rules: [{name: y, key: [address], algorithm: sliding_log, rate: 1/1ms, burst: 1}]"))
	keys := testKeys(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := policy.Parse("f", data)
		if err != nil {
			if !errors.Is(err, policy.ErrFile) || !strings.Contains(err.Error(), "f:") {
				t.Fatalf("%v has neither file nor line", err)
			}
			return
		}
		for _, p := range all {
			checks, err := p.Checks(keys, func(policy.Part) string { return "192.0.2.1" }, 1)
			if err != nil || limit.ValidateChecks(checks) != nil {
				t.Fatalf("%s cannot be asked: %v", p.Name, err)
			}
		}
	})
}
