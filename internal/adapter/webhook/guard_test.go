package webhook

import (
	"net/netip"
	"testing"
)

// Addresses, and whether they belong to the internet at large.
func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "203.0.112.1": true, "172.32.0.1": true, "100.63.255.255": true, "100.128.0.1": true,
		"2606:4700::1111": true, "2a00::1": true, "::ffff:8.8.8.8": true,

		"127.0.0.1": false, "127.255.255.254": false, "0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "169.254.169.254": false,
		"100.64.0.1": false, "100.100.100.200": false, "192.0.0.1": false, "192.0.2.1": false, "198.18.0.1": false,
		"198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"192.88.99.1": false,
		"::":          false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::7f00:1": false, "::ffff:100.64.0.1": false,
		"fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd12::1": false, "ff02::1": false, "fec0::1": false,
		"64:ff9b::a00:1": false, "64:ff9b:1::1": false, "2002:a00:1::1": false, "2001::1": false, "2001:db8::1": false,
		"100::1": false, "3fff::1": false, "5f00::1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v; want %v", address, got, want)
		}
	}
}

func TestTheGuardReadsWhatIsDialled(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8:443": true, "[2606:4700::1111]:443": true,
		"127.0.0.1:443": false, "[::1]:443": false, "[fe80::1%eth0]:443": false, "localhost:443": false, "": false,
	} {
		if err := guard("tcp", address, nil); (err == nil) != want {
			t.Errorf("%q: %v", address, err)
		}
	}
}
