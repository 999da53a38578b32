//go:build integration

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// house is an operator's shell beside real servers: each command of his is a
// run of its own, with connections of its own.
type house struct {
	t   *testing.T
	cfg config.Config
	db  *mongostore.Database
	bus *pulsarbus.Subscription // a refresher's
}

func newHouse(t *testing.T) *house {
	t.Helper()
	name := strings.ToLower(rand.Text())
	topic := "persistent://public/default/operator-" + name
	for variable, value := range map[string]string{
		"ROLLCALL_PULSAR_URL": stacktest.PulsarURL(t), "ROLLCALL_PULSAR_ADMIN_URL": stacktest.PulsarAdminURL(t),
		"ROLLCALL_PULSAR_TOPIC": topic, "ROLLCALL_PULSAR_DEAD_LETTER_TOPIC": topic + "-letters",
		"ROLLCALL_MONGODB_URI": stacktest.MongoURI(t), "ROLLCALL_MONGODB_DATABASE": "operator_" + name,
	} {
		t.Setenv(variable, value)
	}
	h := &house{t: t}
	var err error
	h.cfg, err = config.Load(config.NeedPulsar, config.NeedMongoDB)
	h.must(err)
	h.db, err = mongostore.Open(mongostore.Options{URI: h.cfg.MongoDB.URI.Reveal(), Database: h.cfg.MongoDB.Database})
	h.must(err)
	h.bus, err = pulsarbus.Open(t.Context(), pulsarbus.Options{
		URL: h.cfg.Pulsar.URL, Topic: topic, DeadLetterTopic: h.cfg.Pulsar.DeadLetterTopic, Logger: slog.New(slog.DiscardHandler),
	})
	h.must(err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		h.must(h.bus.Close(ctx))
		h.must(h.db.Close(ctx))
	})
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// rollcall runs one command; fails says whether it has to.
func (h *house) rollcall(fails bool, args ...string) string {
	h.t.Helper()
	var out, complaint strings.Builder
	code := run(h.t.Context(), args, &out, &complaint)
	if (code != exitOK) != fails {
		h.t.Fatalf("rollcall %v: exit %d, %s", args, code, complaint.String())
	}
	return out.String() + complaint.String()
}

// publish stores a message that does not keep to the rules, and buries it as a
// refresher does.
func (h *house) publish(msg pulsar.ProducerMessage) {
	h.t.Helper()
	client, err := pulsar.NewClient(pulsar.ClientOptions{
		URL: h.cfg.Pulsar.URL, Logger: log.NewLoggerWithSlog(slog.New(slog.DiscardHandler)), MetricsRegisterer: prometheus.NewRegistry(),
	})
	h.must(err)
	defer client.Close()
	producer, err := client.CreateProducer(pulsar.ProducerOptions{Topic: h.cfg.Pulsar.Topic, DisableBatching: true})
	h.must(err)
	defer producer.Close()
	_, err = producer.Send(h.t.Context(), &msg)
	h.must(err)
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	d, err := h.bus.Receive(ctx)
	h.must(err)
	if d.Poison == nil {
		h.t.Fatalf("%+v is no poison", d)
	}
	h.must(h.bus.DeadLetter(ctx, d))
	h.bus.Ack(d.ID)
}

// received is the next event that a refresher gets.
func (h *house) received() string {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	d, err := h.bus.Receive(ctx)
	h.must(err)
	if d.Event == nil {
		h.t.Fatalf("a refresher would bury it again: %+v", d.Poison)
	}
	h.bus.Ack(d.ID)
	return fmt.Sprintf("%s %s/%s %s", d.Key, d.Event.Tenant, d.Event.Code, d.Event.Reason)
}

var letterID = regexp.MustCompile(`\d+:\d+:\d+`)

// letters are the IDs that a listing shows.
func (h *house) letters() []string {
	h.t.Helper()
	var ids []string
	for line := range strings.SplitSeq(h.rollcall(false, "deadletters", "list"), "\n") {
		if id := letterID.FindString(line); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

func (h *house) backlog() int64 {
	h.t.Helper()
	admin, err := pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: h.cfg.Pulsar.AdminURL})
	h.must(err)
	defer admin.Close()
	n, err := admin.DeadLetters(h.t.Context(), h.cfg.Pulsar.DeadLetterTopic, "")
	h.must(err)
	return n
}

// A person deals with dead letters, one command after the other: what can be
// read is published again under its key, what cannot is replaced or discarded,
// and then nothing waits any more.
func TestDeadLettersAreDealtWith(t *testing.T) {
	h := newHouse(t)
	wantLines(t, h.rollcall(false, "deadletters"), "There are no dead letters.")
	valid, err := refresh.Encode(refresh.Event{Tenant: "acme", Code: "c-1", Reason: "edited", OccurredAt: time.Now()})
	h.must(err)
	h.publish(pulsar.ProducerMessage{Payload: valid, Properties: map[string]string{"x": "y"}})
	h.publish(pulsar.ProducerMessage{Key: "c-2", Payload: valid})
	h.publish(pulsar.ProducerMessage{Key: "c-3", Payload: []byte(`{"v":99}`)})
	h.publish(pulsar.ProducerMessage{Key: "c-4", Payload: slices.Repeat([]byte("rubbish "), 1<<14)})
	all := h.letters()
	if len(all) != 4 || h.backlog() != 4 || !slices.Equal(h.letters(), all) {
		t.Fatalf("%v are listed, then %v; the backlog is %d", all, h.letters(), h.backlog())
	}
	noKey, mismatch, version, large := all[0], all[1], all[2], all[3]
	wantLines(t, h.rollcall(false, "deadletters", "show", noKey), "no_key", string(valid))

	wantLines(t, h.rollcall(true, "deadletters", "republish", noKey, "--key", "c-2"), "of code c-1, not of c-2")
	wantLines(t, h.rollcall(true, "deadletters", "republish", version, large, mismatch, "--by", "ann"),
		"version 99", "only the first 65536 bytes", mismatch+": an event of code c-1 of tenant acme is published")
	h.rollcall(false, "deadletters", "republish", noKey, "--by", "ann", "--reason", "mended")
	if got, want := []string{h.received(), h.received()}, "c-1 acme/c-1 edited"; got[0] != want || got[1] != want {
		t.Errorf("a refresher got %q, want %q twice", got, want)
	}
	if got := h.letters(); !slices.Equal(got, []string{version, large}) || h.backlog() != 2 {
		t.Fatalf("%v wait, the backlog is %d; want %s and %s", got, h.backlog(), version, large)
	}

	h.rollcall(false, "deadletters", "republish", version, "--as-code", "c-3", "--tenant", "acme", "--why", "newer_producer", "--by", "ann")
	if got := h.received(); got != "c-3 acme/c-3 newer_producer" {
		t.Errorf("a refresher got %q", got)
	}
	h.rollcall(false, "deadletters", "discard", large, "--reason", "a test of theirs", "--by", "bob")
	wantLines(t, h.rollcall(false, "deadletters", "list"), "There are no dead letters.")
	if n := h.backlog(); n != 0 {
		t.Errorf("the backlog is %d", n)
	}
	for _, id := range all {
		wantLines(t, h.rollcall(true, "deadletters", "republish", id), "it has been dealt with already")
		wantLines(t, h.rollcall(true, "deadletters", "discard", id, "--reason", "x"), "it has been dealt with already")
	}
	h.wantDecisions(
		"bob letter_discard dead letter "+large+" done a test of theirs",
		"ann letter_replace dead letter "+version+" done newer_producer",
		"ann letter_republish dead letter "+noKey+" done mended",
		"ann letter_republish dead letter "+mismatch+" done ",
	)
	wantLines(t, h.rollcall(false, "decisions"), "letter_discard", "cause too_large, message", "4 listed")
}

// A person looks at dirty codes, has some tried again and gives one up.
func TestDirtyCodesAreDealtWith(t *testing.T) {
	h := newHouse(t)
	ctx, set, later := t.Context(), h.db.Dirty(), time.Now().Add(time.Hour)
	for _, mark := range []push.Mark{
		{Ref: push.Ref{Tenant: "acme", Code: "c-1"}, Reason: reason.Credentials, Detail: "40001"},
		{Ref: push.Ref{Tenant: "acme", Code: "c-2"}, Reason: reason.Overflow},
		{Ref: push.Ref{Tenant: "acme", Code: "c-3"}, Reason: reason.Overflow},
		{Ref: push.Ref{Tenant: "acme.eu", Code: "c-4"}, Reason: reason.Overflow},
		{Ref: push.Ref{Tenant: "globex", Code: "c-1"}, Reason: reason.WrongTenant},
	} {
		mark.Due = later
		h.must(set.Mark(ctx, mark))
	}
	wantLines(t, h.rollcall(false, "dirty"), "5 dirty")
	wantLines(t, h.rollcall(false, "dirty", "list", "--tenant", "acme"), "3 dirty")
	wantLines(t, h.rollcall(false, "dirty", "list", "--reason", "overflow", "--limit", "2"), "2 listed, and there are more")
	wantLines(t, h.rollcall(false, "dirty", "list", "-o", "json", "--tenant", "acme.eu"), `"code": "c-4"`)
	wantLines(t, h.rollcall(true, "dirty", "show", "c-1"), "say which of acme/c-1, globex/c-1")
	wantLines(t, h.rollcall(false, "dirty", "show", "acme/c-1"), "credentials", "40001", "attempts")
	wantLines(t, h.rollcall(true, "dirty", "show", "c-9"), "not in the dirty set")

	wantLines(t, h.rollcall(true, "dirty", "retry", "c-9", "acme/c-1", "--by", "ann"), "not in the dirty set", "acme/c-1 is due now")
	wantLines(t, h.rollcall(false, "dirty", "retry", "--all-of-reason", "overflow", "--tenant", "acme", "--by", "ann"), "2 codes are due now")
	all, err := set.List(ctx, push.Ref{}, 10)
	h.must(err)
	var names []string
	for _, e := range all {
		if !e.Due.After(time.Now()) {
			names = append(names, e.Tenant+"/"+e.Code)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"acme/c-1", "acme/c-2", "acme/c-3"}, names); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	h.rollcall(false, "dirty", "drop", "globex/c-1", "--reason", "not theirs", "--by", "bob")
	wantLines(t, h.rollcall(false, "dirty", "show", "c-1"), "ACME/C-1")
	h.wantDecisions(
		"bob dirty_drop dirty globex/c-1 done not theirs",
		"ann dirty_retry 2 dirty of acme with overflow done ",
		"ann dirty_retry dirty acme/c-1 done ",
	)
}

// An entry that a keeper saw before the operator had it tried again is neither
// put off nor removed by that keeper: it is due still.
func TestARetryOutlivesAKeeperThatSawTheEntryBefore(t *testing.T) {
	h := newHouse(t)
	ctx, set, ref := t.Context(), h.db.Dirty(), push.Ref{Tenant: "acme", Code: "c-1"}
	h.must(set.Mark(ctx, push.Mark{Ref: ref, Reason: reason.Overflow, Due: time.Now().Add(-time.Minute)}))
	seen, _, err := set.Get(ctx, ref)
	h.must(err)
	h.rollcall(false, "dirty", "retry", "c-1")
	if put, err := set.Postpone(ctx, ref, seen.Version, time.Now().Add(time.Hour)); put || err != nil {
		t.Errorf("put off by who saw it before: %v, %v", put, err)
	}
	now, found, err := set.Get(ctx, ref)
	if err != nil || !found || !now.Due.Equal(seen.Due) || now.Count != 1 || now.Attempts != 0 {
		t.Errorf("%+v, %v, %v; want it due as before", now, found, err)
	}
	if again, err := set.DueNow(ctx, mongostore.Seen{Ref: ref, Version: seen.Version}, time.Now()); again || err != nil {
		t.Errorf("made due by who saw it before: %v, %v", again, err)
	}
}

// A code that was released and has not been looked at yet is due once more.
func TestAReleasedCodeIsTriedAgain(t *testing.T) {
	h := newHouse(t)
	ctx, set, ref := t.Context(), h.db.Dirty(), push.Ref{Tenant: "acme", Code: "c-1"}
	h.must(set.Mark(ctx, push.Mark{Ref: ref, Reason: reason.Overflow, Due: time.Now()}))
	seen, _, err := set.Get(ctx, ref)
	h.must(err)
	if n, err := set.Release(ctx, mongostore.Seen{Ref: ref, Version: seen.Version, At: time.Now().Add(time.Hour)}); n != 1 || err != nil {
		t.Fatalf("released %d, %v", n, err)
	}
	wantLines(t, h.rollcall(false, "dirty"), "released, looked at in")
	h.rollcall(false, "dirty", "retry", "c-1")
	due, err := set.DueOf(ctx, push.DirtyRepair, "acme", time.Now(), 10)
	if err != nil || len(due) != 1 || !due[0].Confirm.IsZero() {
		t.Errorf("due: %+v, %v", due, err)
	}
}

// wantDecisions compares the book, the newest first.
func (h *house) wantDecisions(want ...string) {
	h.t.Helper()
	all, err := h.db.Decisions().List(h.t.Context(), 100)
	h.must(err)
	var got []string
	for _, d := range all {
		got = append(got, fmt.Sprintf("%s %s %s %s %s", d.By, d.Action, d.Subject, d.State, d.Reason))
		if d.Tenant == "" && d.Action != decision.DiscardLetter {
			h.t.Errorf("%+v tells of no tenant", d)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.t.Errorf("decisions (-want +got):\n%s", diff)
	}
}
