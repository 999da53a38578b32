package stack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// Free ports are looked for below the range that kernels hand out for outgoing
// connections (32768 and up on Linux), so that no connection takes one between
// the look and the server's start.
const (
	lowestFreePort  = 20000
	highestFreePort = 32000
	freePortTries   = 200
)

// Ports are the TCP ports of the servers on the loopback interface. In Options
// a zero port means "a free one".
type Ports struct {
	Pulsar      int `json:"pulsar"`
	PulsarAdmin int `json:"pulsar_admin"`
	Bookie      int `json:"bookie"` // Pulsar's storage, of no interest to clients
	Mongo       int `json:"mongo"`
	Redis       int `json:"redis"`
}

// FixedPorts returns the ports of a developer's long-lived stack. None is a
// server's own default, so that an installed Redis or Pulsar is not in the way.
func FixedPorts() Ports {
	return Ports{Pulsar: 16650, PulsarAdmin: 18080, Bookie: 13181, Mongo: 17017, Redis: 16379}
}

// named pairs every port with the variable that overrides it.
func (p *Ports) named() []namedPort {
	return []namedPort{
		{"ROLLCALL_STACK_PULSAR_PORT", &p.Pulsar},
		{"ROLLCALL_STACK_PULSAR_ADMIN_PORT", &p.PulsarAdmin},
		{"ROLLCALL_STACK_BOOKIE_PORT", &p.Bookie},
		{"ROLLCALL_STACK_MONGO_PORT", &p.Mongo},
		{"ROLLCALL_STACK_REDIS_PORT", &p.Redis},
	}
}

type namedPort struct {
	variable string
	port     *int
}

// override replaces ports by those of the environment.
func (p Ports) override(getenv func(string) string) (Ports, error) {
	for _, n := range p.named() {
		text := getenv(n.variable)
		if text == "" {
			continue
		}
		port, err := strconv.Atoi(text)
		if err != nil || port < 1 || port > 65535 {
			return Ports{}, fmt.Errorf("%s=%q is not a port (1 to 65535)", n.variable, text)
		}
		*n.port = port
	}
	return p, nil
}

// or fills the zero ports from other.
func (p Ports) or(other Ports) Ports {
	for i, n := range p.named() {
		if *n.port == 0 {
			*n.port = *other.named()[i].port
		}
	}
	return p
}

// available reports whether servers could listen on all the ports now.
func (p Ports) available() bool {
	for _, n := range p.named() {
		if *n.port != 0 && !available(*n.port) {
			return false
		}
	}
	return true
}

// fill replaces the ports that are still zero by free ones.
func (p Ports) fill() (Ports, error) {
	taken := map[int]bool{}
	for _, n := range p.named() {
		taken[*n.port] = true
	}
	for _, n := range p.named() {
		if *n.port != 0 {
			continue
		}
		port, err := freePort(taken)
		if err != nil {
			return Ports{}, err
		}
		taken[port] = true
		*n.port = port
	}
	return p, nil
}

var errNoFreePort = errors.New("no free port found on " + loopback)

// FreePorts returns ports of the loopback address that nobody listens on, each
// another one, for servers that are about to. They lie below those that outgoing
// connections are given: in a test with thousands of these, one of them may else
// have the port before its server does.
func FreePorts(n int) ([]int, error) {
	taken, ports := map[int]bool{}, make([]int, 0, n)
	for range n {
		port, err := freePort(taken)
		if err != nil {
			return nil, err
		}
		taken[port] = true
		ports = append(ports, port)
	}
	return ports, nil
}

// Loopback is a port of the loopback address as host:port.
func Loopback(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// freePort returns a port that nobody listens on and that is not in taken. It
// draws at random: two stacks that start at the same time then meet on a port
// about once in a thousand starts.
func freePort(taken map[int]bool) (int, error) {
	for range freePortTries {
		port := lowestFreePort + rand.IntN(highestFreePort-lowestFreePort)
		if !taken[port] && available(port) {
			return port, nil
		}
	}
	return 0, errNoFreePort
}

// available reports whether a server could listen on the port now.
func available(port int) bool {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(loopback), Port: port})
	return err == nil && listener.Close() == nil
}
