package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWarningsNameTheNearest(t *testing.T) {
	got := Warnings([]string{
		"PATH=/bin",
		"ROLLCALL_PULSAR_URL=pulsar://x",
		"ROLLCALL_REFRESHER_WORKRES=64",
		"ROLLCALL_PULSAR_TOKN=hunter2",
		"ROLLCALL_SHADE_OF_THE_SKY=blue",
		// Kubernetes sets these for Services named rollcall and rollcall-ops.
		"ROLLCALL_SERVICE_HOST=10.0.0.1",
		"ROLLCALL_SERVICE_PORT=80",
		"ROLLCALL_SERVICE_PORT_HTTP=80",
		"ROLLCALL_PORT=tcp://10.0.0.1:80",
		"ROLLCALL_OPS_PORT_8080_TCP=tcp://10.0.0.1:8080",
		"ROLLCALL_OPS_PORT_8080_TCP_ADDR=10.0.0.1",
	})
	want := []string{
		"ROLLCALL_PULSAR_TOKN is not a variable of Rollcall; did you mean ROLLCALL_PULSAR_TOKEN?",
		"ROLLCALL_REFRESHER_WORKRES is not a variable of Rollcall; did you mean ROLLCALL_REFRESHER_WORKERS?",
		"ROLLCALL_SHADE_OF_THE_SKY is not a variable of Rollcall",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"json", "text", "refresher", "keeper"}
	for word, want := range map[string]string{
		"jsno": "json", "tex": "text", "refrsher": "refresher", "kepeer": "keeper", "xml": "", "": "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
