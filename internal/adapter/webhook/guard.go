package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// errForbidden is an address that a tenant's URL may not lead to.
var errForbidden = errors.New("the address is not a public one")

// reserved are the ranges that netip has no word for (IANA's registries of
// special-purpose addresses). Those that embed another address could lead past
// the guard to it.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carriers' networks
	netip.MustParsePrefix("192.0.0.0/24"),    // protocols
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // relays, given up
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // not given out, and broadcast
	netip.MustParsePrefix("::/96"),           // embeds IPv4, given up
	netip.MustParsePrefix("64:ff9b::/96"),    // embeds IPv4 (NAT64)
	netip.MustParsePrefix("64:ff9b:1::/48"),  // the same, local
	netip.MustParsePrefix("100::/64"),        // discard
	netip.MustParsePrefix("2001::/23"),       // protocols, Teredo among them
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // embeds IPv4 (6to4)
	netip.MustParsePrefix("3fff::/20"),       // documentation
	netip.MustParsePrefix("5f00::/16"),       // segment routing
	netip.MustParsePrefix("fec0::/10"),       // sites, given up
}

// public reports whether an address belongs to the internet at large.
func public(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Zone() != "" {
		return false
	}
	for _, prefix := range reserved {
		if prefix.Contains(ip) {
			return false
		}
	}
	return true
}

// guard refuses an address that a connection is about to be made to. It sees
// the address itself, after the name was resolved: a name that resolves to
// another address a moment later changes nothing.
func guard(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: it cannot be read", errForbidden)
	}
	if !public(at.Addr()) {
		return errForbidden
	}
	return nil
}
