//go:build integration

package faults

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/rollcall-dev/rollcall/test/stack"
)

// part is what a refresher stands on.
type part string

const (
	pulsarPart part = "Pulsar"
	mongoPart  part = "MongoDB"
	redisPart  part = "Redis"
	wecomPart  part = "WeCom"
)

// proxy stands between refreshers and a part.
type proxy struct {
	*toxiproxy.Proxy
	env string // makes a process take the way through it
}

// proxied puts a proxy in front of a part until the test ends. Toxiproxy runs in
// this process, as a library: a fault begins and ends at a line of the test, and
// there is no second process to wait for.
func (h *house) proxied(p part) *proxy {
	h.Helper()
	listen, upstream, env := "127.0.0.1:0", "", func(addr string) string { return addr }
	switch p {
	case pulsarPart:
		detour := h.detour()
		listen, upstream = strings.TrimPrefix(detour.ProxyURL(), "pulsar://"), detour.Upstream()
		env = func(string) string { return stack.EnvPulsarURL + "=" + detour.ProxyURL() }
	case mongoPart:
		upstream = h.hostOf(ground.MongoURI)
		env = func(addr string) string { return stack.EnvMongoURI + "=mongodb://" + addr }
	case redisPart:
		upstream = h.hostOf(ground.RedisURL)
		env = func(addr string) string { return stack.EnvRedisURL + "=redis://" + addr + "/0" }
	case wecomPart:
		upstream = h.hostOf(h.simURL)
		env = func(addr string) string { return "ROLLCALL_WECOM_BASE_URL=http://" + addr }
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	out := &proxy{Proxy: toxiproxy.NewProxy(server, string(p), listen, upstream)}
	h.must(out.Start())
	h.Cleanup(out.Stop)
	out.env = env(out.Listen)
	return out
}

// detour takes one of the ways to the broker for this test.
func (h *house) detour() stack.Detour {
	select {
	case d := <-ground.detours:
		return d // its broker port serves this test's proxy only, so it is not given back
	default:
		h.Fatal("more rows with a proxy in front of the broker than detours")
		return stack.Detour{}
	}
}

func (h *house) hostOf(address string) string {
	h.Helper()
	u, err := url.Parse(address)
	h.must(err)
	_, _, err = net.SplitHostPort(u.Host)
	h.must(err)
	return u.Host
}

// toxic is a way to spoil connections.
type toxic struct {
	kind       string // Toxiproxy's name
	attributes string // its JSON
	streams    []string
}

var (
	// slow delays what the part answers.
	slow = toxic{"latency", `{"latency":300,"jitter":100}`, []string{"downstream"}}
	// cut resets every connection, new ones too, at the first byte.
	cut = toxic{"reset_peer", `{"timeout":0}`, []string{"upstream", "downstream"}}
	// silent lets connections stand and nothing through; new ones are taken and
	// meet the same. When it ends, those that stood are closed: nobody can go on
	// after bytes that are missing.
	silent = toxic{"timeout", `{"timeout":0}`, []string{"upstream", "downstream"}}
)

// spoil begins a fault and returns what ends it.
func (h *house) spoil(p *proxy, x toxic) (heal func()) {
	h.Helper()
	for _, s := range x.streams {
		_, err := p.Toxics.AddToxicJson(strings.NewReader(
			fmt.Sprintf(`{"type":%q,"stream":%q,"attributes":%s}`, x.kind, s, x.attributes)))
		h.must(err)
	}
	return func() { p.Toxics.ResetToxics(h.Context()) }
}
