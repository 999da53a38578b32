package landing

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of the reverse proxies in front.
type Proxies []netip.Prefix

func (p Proxies) contain(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

// client returns the address that a request came from. X-Forwarded-For is read
// from its right end, where our own proxies write, and only as far as they
// vouch for it; what stands left of that is anybody's. The zero Addr is an
// address that cannot be read.
func (p Proxies) client(r *http.Request) netip.Addr {
	port, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	client := port.Addr().Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.contain(client); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		client = hop.Unmap().WithZone("")
	}
	return client
}

// secure reports whether the client's own connection is TLS, as far as we or
// our proxies know.
func (p Proxies) secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	port, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && p.contain(port.Addr().Unmap().WithZone("")) && r.Header.Get("X-Forwarded-Proto") == "https"
}

// subscriber is the part of an address that stands for one line: the whole of
// an IPv4 address, and the 64 bits of an IPv6 address that a provider gives out.
func subscriber(addr netip.Addr) netip.Prefix { return shortened(addr, 32, 64) }

// Subscriber is the line that a request came from.
func (p Proxies) Subscriber(r *http.Request) netip.Prefix { return subscriber(p.client(r)) }

// network is as much of an address as is written down: enough to see an attack
// by, too little to know a person by.
func network(addr netip.Addr) string {
	if !addr.IsValid() {
		return "unknown"
	}
	return shortened(addr, 24, 48).String()
}

func shortened(addr netip.Addr, four, six int) netip.Prefix {
	bits := six
	if addr.Is4() {
		bits = four
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // the zero Addr: all that cannot be read are one
	}
	return prefix
}
