//go:build chart

package chart

import (
	"strings"
	"testing"
)

// What the chart refuses, and the words that tell a person what to do. Each is
// one change to a value file that is taken.
var refusals = []struct {
	what, values string
	set          string // as JSON: path=value
	says         []string
}{
	{"a typo in a name", "minimal", `refresher.replica=3`, []string{"refresher", "replica"}},
	{"a typo at the top", "minimal", `pulsr={}`, []string{"pulsr"}},
	{"a typo deep below", "production", `refresher.podDisruptionBudget.maxUnavailble=1`, []string{"podDisruptionBudget", "maxUnavailble"}},
	{"no broker", "minimal", `pulsar.url=""`, []string{"pulsar.url is not set", "pulsar+ssl://"}},
	{"no store", "minimal", `mongodb.existingSecret=""`, []string{"mongodb.existingSecret is not set", "kubectl create secret"}},
	{"no Redis", "minimal", `redis.existingSecret=""`, []string{"redis.existingSecret is not set", "kubectl create secret"}},
	{"another kind of URL", "minimal", `pulsar.url="http://broker:8080"`, []string{"pulsar"}},
	{"a text for a number", "minimal", `refresher.replicas="three"`, []string{"replicas"}},
	{"none of the words", "minimal", `log.level="loud"`, []string{"level"}},
	{"no duration", "minimal", `refresher.maxHold="15"`, []string{"maxHold"}},
	{"another tool's variable", "minimal", `config={"REDIS_URL":"x"}`, []string{"config"}},
	{"a credential in clear", "minimal", `config={"ROLLCALL_MONGODB_URI":"mongodb://u:p@h"}`, []string{"ROLLCALL_MONGODB_URI", "secret"}},
	{"a variable that has a value", "minimal", `config={"ROLLCALL_LOG_LEVEL":"debug"}`, []string{"log.level"}},
	{"two autoscalers' name", "hpa", `refresher.autoscaling.type="both"`, []string{"autoscaling"}},
	{"more refreshers than the quota keeps busy", "hpa", `refresher.autoscaling.maxReplicas=500`, []string{"quota"}},
	{"KEDA without a Prometheus", "keda", `refresher.autoscaling.keda.serverAddress=""`, []string{"serverAddress"}},
	{"TLS on a plain connection", "minimal", `pulsar={"url":"pulsar://broker:6650","tls":{"existingSecret":"tls"}}`, []string{"pulsar+ssl://"}},
	{"a drain shorter than a call", "minimal", `refresher.drainTimeout="3s"`, []string{"drainTimeout", "callTimeout"}},
	{"a public side without a host", "minimal", `ingress.expose.ingress.enabled=true`, []string{"hosts"}},
}

func TestWrongValuesAreRefused(t *testing.T) {
	for _, r := range refusals {
		t.Run(r.what, func(t *testing.T) {
			args := []string{"template", release, chartPath, "--values", valuesOf(r.values), "--set-json", r.set}
			_, complaint, err := helm.both(t.Context(), "", args...)
			if err == nil {
				t.Fatalf("%s with %s is rendered, want it refused", r.values, r.set)
			}
			for _, word := range r.says {
				if !strings.Contains(complaint, word) {
					t.Errorf("the complaint lacks %q:\n%s", word, complaint)
				}
			}
		})
	}
}
