package stack

import (
	"errors"
	"fmt"
)

// The variables that carry the servers' addresses, to the stack and from it.
const (
	EnvPulsarURL      = "ROLLCALL_PULSAR_URL"
	EnvPulsarAdminURL = "ROLLCALL_PULSAR_ADMIN_URL"
	EnvMongoURI       = "ROLLCALL_MONGODB_URI"
	EnvRedisURL       = "ROLLCALL_REDIS_URL"
)

// Addresses say where the servers are. In Options an empty address means
// "start one".
type Addresses struct {
	PulsarURL      string // pulsar://host:port
	PulsarAdminURL string // http://host:port
	MongoURI       string // mongodb://host:port
	RedisURL       string // redis://host:port/db
}

// Env returns the addresses as NAME=value, ready for exec.Cmd.Env.
func (a Addresses) Env() []string {
	return []string{
		EnvPulsarURL + "=" + a.PulsarURL,
		EnvPulsarAdminURL + "=" + a.PulsarAdminURL,
		EnvMongoURI + "=" + a.MongoURI,
		EnvRedisURL + "=" + a.RedisURL,
	}
}

// errHalfPulsar is returned when only one of Pulsar's two addresses is given.
var errHalfPulsar = errors.New("set both " + EnvPulsarURL + " and " + EnvPulsarAdminURL + ", or neither")

// external reads the addresses of servers that run already.
func external(getenv func(string) string) (Addresses, error) {
	found := Addresses{
		PulsarURL:      getenv(EnvPulsarURL),
		PulsarAdminURL: getenv(EnvPulsarAdminURL),
		MongoURI:       getenv(EnvMongoURI),
		RedisURL:       getenv(EnvRedisURL),
	}
	if (found.PulsarURL == "") != (found.PulsarAdminURL == "") {
		return Addresses{}, errHalfPulsar
	}
	return found, nil
}

// or fills the addresses that are empty from those of servers on our ports.
func (a Addresses) or(ports Ports) Addresses {
	if a.PulsarURL == "" {
		a.PulsarURL = fmt.Sprintf("pulsar://%s:%d", loopback, ports.Pulsar)
		a.PulsarAdminURL = fmt.Sprintf("http://%s:%d", loopback, ports.PulsarAdmin)
	}
	if a.MongoURI == "" {
		a.MongoURI = fmt.Sprintf("mongodb://%s:%d", loopback, ports.Mongo)
	}
	if a.RedisURL == "" {
		a.RedisURL = fmt.Sprintf("redis://%s:%d/0", loopback, ports.Redis)
	}
	return a
}
