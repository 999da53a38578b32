//go:build unix

package cluster

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPodNeedsWhatItCannotStartWithout(t *testing.T) {
	var p pod
	err := json.Unmarshal([]byte(`{"spec": {
	  "initContainers": [{"env": [{"valueFrom": {"configMapKeyRef": {"name": "init", "key": "k"}}}]}],
	  "containers": [{
	    "envFrom": [{"configMapRef": {"name": "all"}}, {"secretRef": {"name": "maybe", "optional": true}}],
	    "env": [{"value": "x"}, {"valueFrom": {"secretKeyRef": {"name": "db", "key": "uri"}}}, {"valueFrom": {"fieldRef": {}}}]
	  }],
	  "volumes": [
	    {"emptyDir": {}},
	    {"secret": {"secretName": "tls", "items": [{"key": "ca", "path": "x"}]}},
	    {"configMap": {"name": "world"}},
	    {"projected": {"sources": [{"secret": {"name": "token", "items": [{"key": "t"}]}}, {"secret": {"name": "no", "optional": true}}]}}
	  ]
	}}`), &p)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, need := range p.needs() {
		got = append(got, need.String())
	}
	want := []string{
		"configmaps/init key k", "configmaps/all", "secrets/db key uri",
		"secrets/tls", "secrets/tls key ca", "configmaps/world", "secrets/token", "secrets/token key t",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("needs (-want +got)\n%s", diff)
	}
}

func TestPodOfAJobEnds(t *testing.T) {
	for owner, want := range map[string]bool{"Job": true, "ReplicaSet": false, "": true} {
		var p pod
		if owner != "" {
			p.Metadata.OwnerReferences = []struct{ Kind string }{{owner}}
		}
		if p.ends() != want {
			t.Errorf("the pod of %q ends: %v, want %v", owner, p.ends(), want)
		}
	}
}
