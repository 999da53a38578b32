package stack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettingsReplaceTheirLinesAndLeaveTheRest(t *testing.T) {
	settings := map[string]string{"port": "1", "bind": "127.0.0.1", "added": "yes"}
	for _, test := range []struct{ name, base, want string }{
		{"empty", "", "added=yes\nbind=127.0.0.1\nport=1\n"},
		{"replaced in place", "port=6650\nother=2\n", "port=1\nother=2\nadded=yes\nbind=127.0.0.1\n"},
		{"blanks around the key", "port = 6650\n", "port=1\nadded=yes\nbind=127.0.0.1\n"},
		{"an empty value", "bind=\nport=\n", "bind=127.0.0.1\nport=1\nadded=yes\n"},
		{"comments stay", "# port=6650\nport=6650\n", "# port=6650\nport=1\nadded=yes\nbind=127.0.0.1\n"},
		{"no last newline", "other=2", "other=2\nadded=yes\nbind=127.0.0.1\nport=1\n"},
		{"a longer key is another key", "portTls=6651\n", "portTls=6651\nadded=yes\nbind=127.0.0.1\nport=1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, withSettings(test.base, settings)); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBrokerListensOnItsPortsOfTheLoopbackOnly(t *testing.T) {
	settings := pulsarSettings(Ports{Pulsar: 1, PulsarAdmin: 2})
	for key, want := range map[string]string{
		"brokerServicePort": "1", "webServicePort": "2",
		"bindAddress": "127.0.0.1", "advertisedAddress": "127.0.0.1",
	} {
		if settings[key] != want {
			t.Errorf("%s = %q, want %q", key, settings[key], want)
		}
	}
}

// What Rollcall's protocol relies on; see the package documentation of the
// intake.
func TestBrokerNeverDropsUnackedMessages(t *testing.T) {
	settings := pulsarSettings(Ports{})
	for key, want := range map[string]string{
		"ttlDurationDefaultInSeconds": "0", "brokerDeduplicationEnabled": "false",
	} {
		if settings[key] != want {
			t.Errorf("%s = %q, want %q", key, settings[key], want)
		}
	}
	for _, key := range []string{"maxUnackedMessagesPerConsumer", "maxUnackedMessagesPerSubscription"} {
		if value, set := settings[key]; set {
			t.Errorf("%s = %q, want the default that production has", key, value)
		}
	}
}
