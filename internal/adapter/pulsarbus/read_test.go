package pulsarbus

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestReadAnEvent(t *testing.T) {
	published := time.Date(2026, 3, 4, 5, 6, 8, 0, time.UTC)
	m := fakeMessage{
		id: pulsar.NewMessageID(7, 9, -1, 3), key: "c-1", payload: []byte(validPayload), published: published, redeliveries: 2,
		properties: map[string]string{"traceparent": "00-aa-bb-01", "tracestate": "v=1", "other": "x"},
	}
	want := intake.Delivery{
		ID:  intake.MessageID{Partition: 3, Ledger: 7, Entry: 9},
		Key: "c-1",
		Event: &intake.Event{
			Ref: push.Ref{Tenant: "t", Code: "c-1"}, Reason: "edited",
			OccurredAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Note: "n",
		},
		PublishedAt: published, Redeliveries: 2,
		Trace: map[string]string{"traceparent": "00-aa-bb-01", "tracestate": "v=1"},
	}
	if diff := cmp.Diff(want, read(idOf(m.id), m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadPoison(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	tests := []struct {
		name         string
		key, payload string
		cause        reason.Reason
		detail       string // is part of the detail
	}{
		{"too large comes before all else", "", long, reason.TooLarge, "102400 bytes"},
		{"no key, whatever the payload", "", "{", reason.NoKey, "no key"},
		{"no key", "", validPayload, reason.NoKey, "no key"},
		{"a newer version", "c-1", `{"v":2}`, reason.WrongVersion, "version 2"},
		{"not JSON", "c-1", "x", reason.Undecodable, "invalid character"},
		{"a field outside its limits", "c-1", `{"v":1}`, reason.Undecodable, "occurred_at"},
		{"another code's key", "c-2", validPayload, reason.KeyMismatch, "key is not the code"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := read(id(1), fakeMessage{key: tt.key, payload: []byte(tt.payload)})
			if d.Event != nil || d.Poison == nil {
				t.Fatalf("got %+v, want poison", d)
			}
			if d.Poison.Cause != tt.cause || !strings.Contains(d.Poison.Detail, tt.detail) {
				t.Errorf("cause %s, detail %q; want %s, %q", d.Poison.Cause, d.Poison.Detail, tt.cause, tt.detail)
			}
			if want := tt.payload[:min(len(tt.payload), 64<<10)]; string(d.Poison.Payload) != want {
				t.Errorf("%d bytes of payload kept, want the first %d", len(d.Poison.Payload), len(want))
			}
		})
	}
}

func TestPoisonDoesNotKeepTheWholePayload(t *testing.T) {
	payload := bytes.Repeat([]byte("x"), 1<<20)
	d := read(id(1), fakeMessage{payload: payload})
	if c := cap(d.Poison.Payload); c > 80<<10 {
		t.Errorf("the kept head has a capacity of %d", c)
	}
}

func TestMessageIDs(t *testing.T) {
	plain := pulsar.NewMessageID(7, 9, -1, 3)
	single := batchID{plain, 0, 1}
	tests := []struct {
		name    string
		from    pulsar.MessageID
		want    intake.MessageID
		batched bool
		printed string
	}{
		{"plain", plain, intake.MessageID{Partition: 3, Ledger: 7, Entry: 9}, false, "7:9:3"},
		{"a batch of one is plain", single, intake.MessageID{Partition: 3, Ledger: 7, Entry: 9}, false, "7:9:3"},
		{"first of a batch", batchID{plain, 0, 2}, intake.MessageID{Partition: 3, Ledger: 7, Entry: 9 | 1<<40}, true, "7:9:3:0"},
		{"fifth of a batch", batchID{plain, 4, 9}, intake.MessageID{Partition: 3, Ledger: 7, Entry: 9 | 5<<40}, true, "7:9:3:4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := idOf(tt.from)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if batched(got) != tt.batched {
				t.Errorf("batched = %v", !tt.batched)
			}
			if s := printed(got); s != tt.printed {
				t.Errorf("printed as %s, want %s", s, tt.printed)
			}
			back := rebuilt(got)
			if back.LedgerID() != 7 || back.EntryID() != 9 || back.PartitionIdx() != 3 {
				t.Errorf("rebuilt as %v", back)
			}
		})
	}
}

func TestOriginalsAreKeptForForeignMessagesOnlyAndForgottenAfterUse(t *testing.T) {
	var o originals
	plain, large := message(1), message(2)
	large.payload = make([]byte, 5000)
	o.keep(id(1), plain)
	o.keep(id(2), large)
	if len(o.ids) != 1 {
		t.Errorf("%d IDs kept, want the large message's only", len(o.ids))
	}
	if got, ok := o.take(id(2)); !ok || got != large.id {
		t.Errorf("take = %v, %v; want the client's own ID", got, ok)
	}
	if len(o.ids) != 0 {
		t.Error("the ID is still kept after its use")
	}
	inBatch := batchID{message(3).id, 0, 2}
	o.keep(idOf(inBatch), fakeMessage{id: inBatch})
	o.clear()
	if got, ok := o.take(idOf(inBatch)); ok {
		t.Errorf("take of a forgotten message of a batch = %v: acking it would lose its neighbors", got)
	}
}
