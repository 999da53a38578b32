package stacktest

import (
	"fmt"
	"strings"
	"testing"
)

var lookups = []struct {
	name     string
	variable string
	get      func(testing.TB) string
	value    string
}{
	{"broker", EnvPulsarURL, PulsarURL, "pulsar://127.0.0.1:16650"},
	{"broker admin", EnvPulsarAdminURL, PulsarAdminURL, "http://127.0.0.1:18080"},
	{"store", EnvMongoURI, MongoURI, "mongodb://127.0.0.1:27117"},
	{"redis", EnvRedisURL, RedisURL, "redis://127.0.0.1:16379/0"},
}

func TestAddressComesFromTheEnvironment(t *testing.T) {
	for _, lookup := range lookups {
		t.Run(lookup.name, func(t *testing.T) {
			t.Setenv(lookup.variable, lookup.value)
			if got := lookup.get(t); got != lookup.value {
				t.Errorf("got %q, want the value of %s: %q", got, lookup.variable, lookup.value)
			}
		})
	}
}

func TestAMissingAddressFailsAndSaysHowToGetOne(t *testing.T) {
	for _, lookup := range lookups {
		t.Run(lookup.name, func(t *testing.T) {
			t.Setenv(lookup.variable, "")
			tb := &fatalRecorder{TB: t}
			lookup.get(tb)
			for _, want := range []string{lookup.variable, "go run ./test/stack/cmd run --"} {
				if !strings.Contains(tb.message, want) {
					t.Errorf("failure message %q does not mention %q", tb.message, want)
				}
			}
		})
	}
}

// fatalRecorder stands in for the test whose address is missing. Unlike the
// real Fatalf it returns, which the lookups survive.
type fatalRecorder struct {
	testing.TB
	message string
}

func (r *fatalRecorder) Helper() {}

func (r *fatalRecorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
}
