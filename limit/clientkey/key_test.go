package clientkey_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/limit/clientkey"
)

func keys(t *testing.T, secret string, prefix6 int) *clientkey.Keys {
	t.Helper()
	k, err := clientkey.NewKeys([]byte(secret), prefix6)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// RL-14: one subscriber of IPv6 is one caller, and one machine with two spellings too.
func TestAddressKey_RL14_OneCallerIsOneKey(t *testing.T) {
	t.Parallel()
	k, narrow := keys(t, strings.Repeat("s", 16), 0), keys(t, strings.Repeat("s", 16), 128)
	same := func(k *clientkey.Keys, a, b string) bool {
		return k.Address(netip.MustParseAddr(a)) == k.Address(netip.MustParseAddr(b))
	}
	for _, c := range []struct {
		keys *clientkey.Keys
		a, b string
		want bool
	}{
		{k, "2001:db8::1", "2001:db8::ffff:1", true},
		{k, "2001:db8::1", "2001:db8:0:1::1", false},
		{k, "::ffff:192.0.2.1", "192.0.2.1", true},
		{k, "192.0.2.1", "192.0.2.2", false},
		{k, "fe80::1%eth0", "fe80::1%eth1", true},
		{narrow, "2001:db8::1", "2001:db8::2", false},
	} {
		if got := same(c.keys, c.a, c.b); got != c.want {
			t.Errorf("%s and %s have one key: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestHash_HidesAndSeparates(t *testing.T) {
	t.Parallel()
	a, b := keys(t, strings.Repeat("a", 16), 0), keys(t, strings.Repeat("b", 16), 0)
	all := map[string]string{}
	for name, key := range map[string]string{
		"user alice": a.Hash("user", "alice"), "tenant alice": a.Hash("tenant", "alice"), "another secret": b.Hash("user", "alice"),
		"a kind that ends in the value": a.Hash("useralice", ""), "no value": a.Hash("user", ""), "long": a.Hash("user", strings.Repeat("x", 1<<16)),
	} {
		if len(key) != 22 || strings.Contains(key, "alice") {
			t.Errorf("%s: the key is %q, want 22 characters of a hash", name, key)
		}
		if other, ok := all[key]; ok {
			t.Errorf("%s and %s share a key", name, other)
		}
		all[key] = name
	}
	if again := keys(t, strings.Repeat("a", 16), 0).Hash("user", "alice"); again != a.Hash("user", "alice") {
		t.Error("two servers with one secret make different keys")
	}
}

func TestNewKeys_RefusesWhatHidesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		secret  string
		prefix6 int
	}{{"", 0}, {strings.Repeat("s", 15), 0}, {strings.Repeat("s", 16), 15}, {strings.Repeat("s", 16), 129}, {strings.Repeat("s", 16), -1}} {
		if _, err := clientkey.NewKeys([]byte(c.secret), c.prefix6); !errors.Is(err, clientkey.ErrKeys) {
			t.Errorf("a secret of %d bytes, prefix %d: %v, want ErrKeys", len(c.secret), c.prefix6, err)
		}
	}
}
