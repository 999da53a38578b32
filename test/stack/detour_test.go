package stack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhoAsksThroughAProxyIsSentBackToIt(t *testing.T) {
	got := detourSettings(6650, []Detour{{Proxy: 7001, Broker: 7002}, {Proxy: 8001, Broker: 8002}})
	want := map[string]string{
		"advertisedAddress":    "",
		"bindAddresses":        "detour0:pulsar://127.0.0.1:7002,detour1:pulsar://127.0.0.1:8002",
		"advertisedListeners":  "direct:pulsar://127.0.0.1:6650,detour0:pulsar://127.0.0.1:7001,detour1:pulsar://127.0.0.1:8001",
		"internalListenerName": "direct",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings of two detours (-want +got):\n%s", diff)
	}
}

func TestWithoutADetourTheBrokerHasOneAddress(t *testing.T) {
	if got := detourSettings(6650, nil); len(got) != 0 {
		t.Errorf("settings %v; want none", got)
	}
}

func TestADetourLeadsFromTheProxyToTheBroker(t *testing.T) {
	d := Detour{Proxy: 7001, Broker: 7002}
	if d.ProxyURL() != "pulsar://127.0.0.1:7001" || d.Upstream() != "127.0.0.1:7002" {
		t.Errorf("clients go to %s and the proxy to %s", d.ProxyURL(), d.Upstream())
	}
}
