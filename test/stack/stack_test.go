package stack

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAStackStartsAllPartsOrNone(t *testing.T) {
	s := fakeStack(t, serves, serves, dies)
	if err := s.startOrStop(t.Context()); err == nil {
		t.Fatal("no error although one server died")
	}
	if s.Running() {
		t.Error("servers are left of a stack that did not start")
	}
	if !exists(s.Redis.Log()) {
		t.Error("the log of the failure is gone")
	}
}

func TestStopEndsEveryServerAndTheTemporaryFolder(t *testing.T) {
	s := fakeStack(t, serves, serves, serves)
	s.temporary = true
	if err := s.startOrStop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !s.Running() {
		t.Fatal("nothing runs after the start")
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Running() || exists(s.Dir()) {
		t.Errorf("running %t, folder there %t, want neither", s.Running(), exists(s.Dir()))
	}
}

func TestServersMoveWhenThePortsChange(t *testing.T) {
	s := fakeStack(t, serves, serves, serves)
	if err := s.startOrStop(t.Context()); err != nil {
		t.Fatal(err)
	}
	ledgers := filepath.Join(s.Dir(), partPulsar, "bookkeeper")
	if err := os.MkdirAll(ledgers, 0o700); err != nil {
		t.Fatal(err)
	}
	before := s.Redis.proc.identity
	s.ports = testPorts
	if err := s.startOrStop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if before.running() {
		t.Error("the server on the old ports still runs")
	}
	if exists(ledgers) {
		t.Error("the broker kept data that it cannot read under another port")
	}
	if got := open(t, s.Dir()).ports(); got != testPorts {
		t.Errorf("recorded ports %+v, want %+v", got, testPorts)
	}
}

func TestStatusTellsStoppedRunningAndExternal(t *testing.T) {
	s := fakeStack(t, serves, serves, serves)
	failure := errors.New("connection refused")
	s.Mongo.command = nil
	s.Mongo.probe = func(context.Context) error { return failure }
	mustStart(t, s.Redis)
	want := []Status{
		{Part: partPulsar, Address: "pulsar"},
		{Part: partMongo, Address: "mongo", External: true, Answer: failure},
		{Part: partRedis, Address: "redis", PID: s.Redis.proc.PID},
	}
	sameError := cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) || errors.Is(b, a) })
	if diff := cmp.Diff(want, s.Status(t.Context()), sameError); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestStatusReadsAsASentence(t *testing.T) {
	failure := errors.New("refused")
	for _, test := range []struct {
		status Status
		want   string
	}{
		{Status{}, "stopped"},
		{Status{PID: 7}, "answers (pid 7)"},
		{Status{PID: 7, Answer: failure}, "pid 7 does not answer: refused"},
		{Status{External: true}, "answers (named by the environment)"},
		{Status{External: true, Answer: failure}, "does not answer (named by the environment): refused"},
	} {
		if got := test.status.String(); got != test.want {
			t.Errorf("%+v reads %q, want %q", test.status, got, test.want)
		}
	}
}

func TestPortsAreKeptFromOneStartToTheNext(t *testing.T) {
	dir := t.TempDir()
	first := mustOpen(t, Options{Dir: dir, Getenv: nothing})
	if err := first.states.update(func(s *state) { s.Ports = first.ports }); err != nil {
		t.Fatal(err)
	}
	second := mustOpen(t, Options{Dir: dir, Getenv: nothing})
	if diff := cmp.Diff(first.ports, second.ports); diff != "" {
		t.Errorf("ports of the second start (-first +second):\n%s", diff)
	}
	moved := mustOpen(t, Options{Dir: dir, Ports: Ports{Redis: 7003}, Getenv: nothing})
	want := first.ports
	want.Redis = 7003
	if diff := cmp.Diff(want, moved.ports); diff != "" {
		t.Errorf("ports with one given (-want +got):\n%s", diff)
	}
}

func TestTwoStacksHaveNothingInCommon(t *testing.T) {
	a, b := mustOpen(t, Options{Getenv: nothing}), mustOpen(t, Options{Getenv: nothing})
	if a.Dir() == b.Dir() || a.Addresses == b.Addresses {
		t.Errorf("both in %s at %+v", a.Dir(), a.Addresses)
	}
}

func nothing(string) string { return "" }

func mustOpen(t *testing.T, options Options) *Stack {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir()) // temporary folders go with the test
	s, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fakeStack is a stack of fake servers.
func fakeStack(t *testing.T, pulsar, mongo, redis behavior) *Stack {
	t.Helper()
	dir := t.TempDir()
	states := open(t, dir)
	return &Stack{
		Addresses: Addresses{PulsarURL: "pulsar", MongoURI: "mongo", RedisURL: "redis"},
		Pulsar:    fakePartOf(t, states, partPulsar, pulsar),
		Mongo:     fakePartOf(t, states, partMongo, mongo),
		Redis:     fakePartOf(t, states, partRedis, redis),
		dir:       dir,
		states:    states,
	}
}
