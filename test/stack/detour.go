package stack

import (
	"fmt"
	"strings"
)

// Detour is a way to the broker through a proxy of the caller's. A client asks
// the broker where its topic is and connects to what it is told, so a proxy
// alone would see the question and nothing after it. The broker therefore
// listens on a port of its own for what comes through the proxy, and sends
// whoever asks there back to the proxy (Pulsar's PIP-95).
type Detour struct {
	Proxy  int // port on the loopback where the proxy listens
	Broker int // port where the broker is to listen for it: the proxy's upstream
}

// ProxyURL is the address for clients that take the detour.
func (d Detour) ProxyURL() string { return fmt.Sprintf("pulsar://%s:%d", loopback, d.Proxy) }

// Upstream is the host and port that the proxy has to connect to.
func (d Detour) Upstream() string { return fmt.Sprintf("%s:%d", loopback, d.Broker) }

// directListener is the broker's listener for everybody who takes no detour.
const directListener = "direct"

// detourSettings are the broker's settings for its detours; none without one.
// Listeners and a plain advertised address exclude each other.
func detourSettings(direct int, detours []Detour) map[string]string {
	if len(detours) == 0 {
		return nil
	}
	var bind []string
	advertised := []string{fmt.Sprintf("%s:pulsar://%s:%d", directListener, loopback, direct)}
	for i, d := range detours {
		name := fmt.Sprintf("detour%d", i)
		bind = append(bind, fmt.Sprintf("%s:pulsar://%s", name, d.Upstream()))
		advertised = append(advertised, fmt.Sprintf("%s:%s", name, d.ProxyURL()))
	}
	return map[string]string{
		"advertisedAddress":    "",
		"bindAddresses":        strings.Join(bind, ","),
		"advertisedListeners":  strings.Join(advertised, ","),
		"internalListenerName": directListener,
	}
}
