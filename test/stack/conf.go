package stack

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pulsarSettings are where our broker differs from the distribution's
// standalone.conf. Everything else keeps the default that production has, the
// limits of un-acked messages above all.
func pulsarSettings(ports Ports) map[string]string {
	return map[string]string{
		"bindAddress":       loopback,
		"advertisedAddress": loopback,
		"brokerServicePort": fmt.Sprint(ports.Pulsar),
		"webServicePort":    fmt.Sprint(ports.PulsarAdmin),

		// Rollcall is built for a topic without deduplication and without a
		// TTL, which would drop un-acked messages.
		"brokerDeduplicationEnabled":  "false",
		"ttlDurationDefaultInSeconds": "0",

		// A topic lives until its test deletes it or the stack is thrown away.
		"allowAutoTopicCreation":            "true",
		"allowAutoTopicCreationType":        "non-partitioned",
		"brokerDeleteInactiveTopicsEnabled": "false",

		// One small machine: no second protocol, a quick stop, few threads.
		"webSocketServiceEnabled": "false",
		"brokerShutdownTimeoutMs": "3000",
		"numHttpServerThreads":    "4",
	}
}

// withSettings returns a Java properties file with the given settings: a line
// that sets one is replaced, settings without a line come last, sorted.
func withSettings(base string, settings map[string]string) string {
	var out strings.Builder
	missing := maps.Clone(settings)
	for line := range strings.Lines(base) {
		key, _, isSetting := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if value, ours := settings[key]; isSetting && ours {
			line = key + "=" + value + "\n"
			delete(missing, key)
		}
		out.WriteString(line)
	}
	if base != "" && !strings.HasSuffix(base, "\n") {
		out.WriteString("\n")
	}
	for _, key := range slices.Sorted(maps.Keys(missing)) {
		out.WriteString(key + "=" + missing[key] + "\n")
	}
	return out.String()
}
