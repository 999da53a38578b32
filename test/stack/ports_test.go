package stack

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// environment stands in for the process's.
type environment map[string]string

func (e environment) get(name string) string { return e[name] }

func (e environment) add(t *testing.T, variable string) {
	t.Helper()
	name, value, found := strings.Cut(variable, "=")
	if !found {
		t.Fatalf("%q is not NAME=value", variable)
	}
	e[name] = value
}

func TestPortsOfTheEnvironmentGoFirst(t *testing.T) {
	env := environment{"ROLLCALL_STACK_PULSAR_PORT": "7001", "ROLLCALL_STACK_REDIS_PORT": "7002"}
	got, err := testPorts.override(env.get)
	if err != nil {
		t.Fatal(err)
	}
	want := testPorts
	want.Pulsar, want.Redis = 7001, 7002
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

func TestAPortOfTheEnvironmentMustBeOne(t *testing.T) {
	for _, text := range []string{"0", "-1", "65536", "http", "80 "} {
		env := environment{"ROLLCALL_STACK_MONGO_PORT": text}
		_, err := Ports{}.override(env.get)
		if err == nil || !strings.Contains(err.Error(), "ROLLCALL_STACK_MONGO_PORT") {
			t.Errorf("port %q: error %v, want one that names the variable", text, err)
		}
	}
}

func TestZeroPortsAreFilledFromTheLastStart(t *testing.T) {
	got := Ports{Redis: 9}.or(testPorts)
	want := testPorts
	want.Redis = 9
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

func TestFreePortsDifferAndCanBeListenedOn(t *testing.T) {
	ports, err := Ports{Mongo: 4}.fill()
	if err != nil {
		t.Fatal(err)
	}
	if ports.Mongo != 4 {
		t.Errorf("the given port became %d", ports.Mongo)
	}
	seen := map[int]bool{}
	for _, n := range ports.named() {
		if *n.port == 0 || seen[*n.port] {
			t.Errorf("%s: port %d is zero or given twice", n.variable, *n.port)
		}
		seen[*n.port] = true
	}
}

func TestFreePortsLieBelowThoseOfOutgoingConnections(t *testing.T) {
	ports, err := FreePorts(100)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range ports {
		if seen[port] || port < lowestFreePort || port >= highestFreePort || !available(port) {
			t.Errorf("port %d is given twice, out of range, or taken", port)
		}
		seen[port] = true
	}
	if got := Loopback(20_001); got != "127.0.0.1:20001" {
		t.Errorf("Loopback() = %q", got)
	}
}

func TestAPortSomebodyListensOnIsNotAvailable(t *testing.T) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(loopback)})
	if err != nil {
		t.Fatal(err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("listener's address is a %T", listener.Addr())
	}
	if available(address.Port) || (Ports{Redis: address.Port}).available() {
		t.Error("a port with a listener counts as available")
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if !available(address.Port) {
		t.Error("the port stays unavailable after its listener is gone")
	}
}
