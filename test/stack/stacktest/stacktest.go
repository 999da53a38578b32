// Package stacktest tells an integration test where the real Pulsar, MongoDB
// and Redis are.
//
// It owns nothing but that lookup: it starts no server and cleans up no data.
// The servers come from `go run ./test/stack/cmd run -- CMD`, which sets the
// variables read here, or from the developer, who sets them himself. A test
// makes its own topic, database or key prefix with a random name, so that
// tests run in parallel and on servers that hold leftovers.
package stacktest

import (
	"os"
	"testing"
)

// The variables that carry the addresses. They are the ones the product reads.
const (
	EnvPulsarURL      = "ROLLCALL_PULSAR_URL"
	EnvPulsarAdminURL = "ROLLCALL_PULSAR_ADMIN_URL"
	EnvMongoURI       = "ROLLCALL_MONGODB_URI"
	EnvRedisURL       = "ROLLCALL_REDIS_URL"
)

// PulsarURL returns the broker's binary-protocol address, such as
// pulsar://127.0.0.1:6650. It ends the test when EnvPulsarURL is unset.
func PulsarURL(tb testing.TB) string {
	tb.Helper()
	return address(tb, EnvPulsarURL)
}

// PulsarAdminURL returns the broker's admin address, such as
// http://127.0.0.1:8080. It ends the test when EnvPulsarAdminURL is unset.
func PulsarAdminURL(tb testing.TB) string {
	tb.Helper()
	return address(tb, EnvPulsarAdminURL)
}

// MongoURI returns the connection string of the store, such as
// mongodb://127.0.0.1:27017. It ends the test when EnvMongoURI is unset.
func MongoURI(tb testing.TB) string {
	tb.Helper()
	return address(tb, EnvMongoURI)
}

// RedisURL returns the address of Redis, such as redis://127.0.0.1:6379/0.
// It ends the test when EnvRedisURL is unset.
func RedisURL(tb testing.TB) string {
	tb.Helper()
	return address(tb, EnvRedisURL)
}

// address reads one variable and fails with the way out rather than skipping:
// a skipped integration test looks like a green one.
func address(tb testing.TB, variable string) string {
	tb.Helper()
	value := os.Getenv(variable)
	if value == "" {
		tb.Fatalf("%s is not set, so this test has no server to talk to.\n"+
			"Run it through the stack:\n"+
			"  go run ./test/stack/cmd run -- go test -tags integration ./...\n"+
			"or set %s to a server of your own.", variable, variable)
	}
	return value
}
