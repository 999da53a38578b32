package config

import (
	"net/netip"
	"reflect"
	"strings"
	"time"
)

// Draw is about the landing page.
type Draw struct {
	PageRate     float64       `envconfig:"ROLLCALL_DRAW_PAGE_RATE" default:"5" accept:"0.01..10000" desc:"How often one client address (of IPv6: one /64) may open a landing page, a second on average."`
	PageBurst    int           `envconfig:"ROLLCALL_DRAW_PAGE_BURST" default:"20" accept:"1..100000" desc:"The same, at once."`
	Proxies      Networks      `envconfig:"ROLLCALL_DRAW_TRUSTED_PROXIES" accept:"networks" shown:"none" desc:"The networks of the reverse proxies in front. Only they are believed in X-Forwarded-For and X-Forwarded-Proto; without them everybody behind a proxy is one client."`
	ImageSources []string      `envconfig:"ROLLCALL_DRAW_IMAGE_SOURCES" default:"https:" accept:"sources" desc:"Where the page may load QR codes from: sources of a Content-Security-Policy."`
	RepeatWithin time.Duration `envconfig:"ROLLCALL_DRAW_REPEAT_WITHIN" default:"60s" accept:"1s..10m" desc:"How long a reload of the page, or an API request with the same Idempotency-Key, gets the same member. Longer than the time for which a draw counts before its customer does (60s), a member may be shown to more customers than he may take."`
}

// Networks are networks in CIDR notation.
type Networks []netip.Prefix

// UnmarshalText reads networks separated by commas.
func (n *Networks) UnmarshalText(text []byte) error {
	*n = nil
	for word := range strings.SplitSeq(string(text), ",") {
		prefix, err := netip.ParsePrefix(word)
		if err != nil {
			return &valueError{"holds something that is no network in CIDR notation"}
		}
		*n = append(*n, prefix.Masked())
	}
	return nil
}

// checkSources keeps a list of CSP sources from ending its directive.
func checkSources(text string, _ reflect.Value) string {
	for word := range strings.SplitSeq(text, ",") {
		if word == "" || strings.ContainsAny(word, " \t;'\"") {
			return "holds an empty source, a space, a semicolon or a quote"
		}
	}
	return ""
}
