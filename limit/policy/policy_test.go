package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/limit/clientkey"
	"github.com/anteroom/anteroom/limit/policy"
)

func testKeys(t testing.TB) *clientkey.Keys {
	t.Helper()
	k, err := clientkey.NewKeys([]byte(strings.Repeat("k", 32)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func one(t *testing.T, key string) *policy.Policy {
	t.Helper()
	all, err := policy.Parse("p", []byte("policies: [{name: p, on_store_error: fail_open, rules: [{name: r, key: "+key+", algorithm: gcra, rate: 1/1s, burst: 1}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// RL-14: what a store sees is a hash, of IPv6 by prefix, and values cannot run together.
func TestChecks_RL14_KeysHideAndSeparate(t *testing.T) {
	t.Parallel()
	keys := testKeys(t)
	key := func(parts string, values map[policy.Part]string) string {
		checks, err := one(t, parts).Checks(keys, func(p policy.Part) string { return values[p] }, 1)
		if err != nil {
			t.Fatal(err)
		}
		return checks[0].Key
	}
	type values = map[policy.Part]string
	if a, b := key("[address]", values{"address": "2001:db8::1"}), key("[address]", values{"address": "2001:db8::2"}); a != b || strings.Contains(a, "2001") {
		t.Errorf("one subscriber has the keys %s and %s", a, b)
	}
	if a, b := key("[tenant, user]", values{"tenant": "ab", "user": "c"}), key("[tenant, user]", values{"tenant": "a", "user": "bc"}); a == b {
		t.Errorf("two callers have the key %s", a)
	}
	if a, b := key("[user]", values{"user": "x"}), key("[tenant]", values{"tenant": "x"}); a == b {
		t.Errorf("a user and a tenant have the key %s", a)
	}
	if a := key("[global]", nil); a != "global" {
		t.Errorf("the key of all is %s", a)
	}
}

func TestChecks_MissingPart(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "not an address"} {
		if _, err := one(t, "[address]").Checks(testKeys(t), func(policy.Part) string { return value }, 1); !errors.Is(err, policy.ErrPart) {
			t.Errorf("address %q: %v, want ErrPart", value, err)
		}
	}
}
