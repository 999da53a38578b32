package stack

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var testPorts = Ports{Pulsar: 1, PulsarAdmin: 2, Bookie: 3, Mongo: 4, Redis: 5}

func TestAddressesComeFromTheEnvironmentOrFromOurPorts(t *testing.T) {
	ours := Addresses{
		PulsarURL: "pulsar://127.0.0.1:1", PulsarAdminURL: "http://127.0.0.1:2",
		MongoURI: "mongodb://127.0.0.1:4", RedisURL: "redis://127.0.0.1:5/0",
	}
	with := func(change func(*Addresses)) Addresses {
		changed := ours
		change(&changed)
		return changed
	}
	for _, test := range []struct {
		name string
		env  environment
		want Addresses
	}{
		{"nothing named", nil, ours},
		{
			"a Pulsar",
			environment{EnvPulsarURL: "pulsar://p:6650", EnvPulsarAdminURL: "http://p:8080"},
			with(func(a *Addresses) { a.PulsarURL, a.PulsarAdminURL = "pulsar://p:6650", "http://p:8080" }),
		},
		{
			"a MongoDB",
			environment{EnvMongoURI: "mongodb://m/?replicaSet=rs0"},
			with(func(a *Addresses) { a.MongoURI = "mongodb://m/?replicaSet=rs0" }),
		},
		{
			"a Redis",
			environment{EnvRedisURL: "redis://r:6379/3"},
			with(func(a *Addresses) { a.RedisURL = "redis://r:6379/3" }),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			given, err := external(test.env.get)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, given.or(testPorts)); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHalfAPulsarIsRefused(t *testing.T) {
	for _, env := range []environment{
		{EnvPulsarURL: "pulsar://p:6650"},
		{EnvPulsarAdminURL: "http://p:8080"},
	} {
		if _, err := external(env.get); !errors.Is(err, errHalfPulsar) {
			t.Errorf("external(%v) = %v, want %v", env, err, errHalfPulsar)
		}
	}
}

func TestEnvIsWhatExternalReads(t *testing.T) {
	want := Addresses{}.or(testPorts)
	env := environment{}
	for _, variable := range want.Env() {
		env.add(t, variable)
	}
	got, err := external(env.get)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses through the environment (-want +got):\n%s", diff)
	}
}
