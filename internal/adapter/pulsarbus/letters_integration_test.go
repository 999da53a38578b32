//go:build integration

package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/letters/letterstest"
)

// box is Letters as the suite sees it.
type box struct{ *Letters }

func (b box) Waiting(ctx context.Context) ([]string, error) {
	var ids []string
	for letter, err := range b.Letters.Waiting(ctx, 0) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, letter.ID)
	}
	return ids, nil
}

func (b *broker) letters() *Letters {
	b.t.Helper()
	l, err := OpenLetters(b.options(), b.admin)
	b.must(err)
	b.t.Cleanup(l.Close)
	return l
}

func (b *broker) waiting(l *Letters) []string {
	b.t.Helper()
	ids, err := box{l}.Waiting(b.t.Context())
	b.must(err)
	return ids
}

// bury stores a letter the way a refresher does.
func (b *broker) bury(w *deadLetterWriter, letter letters.Letter) {
	b.t.Helper()
	b.must(w.write(b.t.Context(), intake.Delivery{
		ID: intake.MessageID{Ledger: 7, Entry: 9, Partition: 3}, Key: letter.Key, PublishedAt: letter.PublishedAt,
		Poison: &intake.Poison{Cause: letter.Cause, Detail: letter.Detail, Payload: letter.Payload},
	}))
}

func (b *broker) writer() *deadLetterWriter {
	o := b.options().withDefaults()
	w := &deadLetterWriter{client: b.client(), o: o}
	b.t.Cleanup(w.close)
	return w
}

// The dead-letter topic is created by its first message, as it is in service.
func TestLettersConform(t *testing.T) {
	letterstest.TestBox(t, func(t *testing.T) letterstest.Bench {
		b := newBroker(t, 0)
		w := b.writer()
		w.o.Topic = letterstest.TopicName
		return letterstest.Bench{Box: box{b.letters()}, Bury: func(_ *testing.T, letter letters.Letter) { b.bury(w, letter) }}
	})
}

// A letter is named by its partition too, listing takes nothing from anybody,
// and what is settled is so for whoever comes later.
func TestLettersOfAPartitionedTopic(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 3)
	b.must(b.admin.EnsureTopic(t.Context(), b.topic+DefaultDeadLetterSuffix, 3))
	w, l := b.writer(), b.letters()
	if got := b.waiting(l); len(got) != 0 {
		t.Fatalf("%v wait before there is a letter", got)
	}
	b.wantLetters(0)
	for i := range 30 {
		b.bury(w, letters.Letter{Key: fmt.Sprint("c-", i), Cause: "no_key", Payload: []byte("x")})
	}
	all := b.waiting(l)
	if len(all) != 30 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 30 {
		t.Fatalf("%d letters wait: %v", len(all), all)
	}
	b.wantLetters(30)
	var left []string
	for i, id := range all {
		if i%3 == 1 {
			left = append(left, id)
			continue
		}
		b.must(l.Settle(t.Context(), id))
	}
	b.wantLetters(10)
	later := b.letters()
	if got := b.waiting(later); !slices.Equal(got, left) {
		t.Errorf("%v wait, want %v", got, left)
	}
	n := 0
	for range later.Waiting(t.Context(), 4) {
		n++
	}
	if n != 4 {
		t.Errorf("a list of at most 4 showed %d", n)
	}
	for _, id := range left {
		if _, err := later.Get(t.Context(), id); err != nil {
			t.Errorf("Get(%s) = %v", id, err)
		}
		b.must(later.Settle(t.Context(), id))
	}
	if got := b.waiting(l); len(got) != 0 {
		t.Errorf("%v wait, want none", got)
	}
	b.wantLetters(0)
}

// An operator's consumer that holds letters un-acked hides none of them, and
// keeps nobody from settling one.
func TestLettersBesideAnotherConsumer(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 0)
	w, l := b.writer(), b.letters()
	for i := range 5 {
		b.bury(w, letters.Letter{Key: fmt.Sprint("c-", i), Cause: "no_key", Payload: []byte("x")})
	}
	o := b.options().withDefaults().letterConsumer(b.topic + DefaultDeadLetterSuffix)
	o.ReceiverQueueSize = 100
	other, err := b.client().Subscribe(o)
	b.must(err)
	defer other.Close()
	var held pulsar.Message
	for range 5 {
		held, err = other.Receive(t.Context())
		b.must(err)
	}
	all := b.waiting(l)
	if len(all) != 5 {
		t.Fatalf("%v wait, want five", all)
	}
	last := positionOf(held.ID())
	id := fmt.Sprintf("%d:%d:0", last.ledger, last.entry)
	b.must(l.Settle(t.Context(), id))
	if _, err := l.Get(t.Context(), id); !errors.Is(err, letters.ErrSettled) {
		t.Errorf("Get of what another consumer held = %v", err)
	}
	b.wantLetters(4)
}

// wantLetters fails the test unless the broker counts so many.
func (b *broker) wantLetters(want int64) {
	b.t.Helper()
	got, err := b.admin.DeadLetters(b.t.Context(), b.topic+DefaultDeadLetterSuffix, "")
	b.must(err)
	if got != want {
		b.t.Errorf("the broker counts %d letters, want %d", got, want)
	}
}

// What is dealt with stays so when the broker hands the topic over, and an ID
// in the gap between two ledgers is nobody's.
func TestLettersOfATopicThatMoves(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 0)
	w, l := b.writer(), b.letters()
	for range 3 {
		b.bury(w, letters.Letter{Cause: "no_key", Payload: []byte("x")})
	}
	all := b.waiting(l)
	b.must(l.Settle(t.Context(), all[1]))
	path, err := topicPath(b.topic + DefaultDeadLetterSuffix)
	b.must(err)
	w.close() // the client's producers race when they reconnect; that is not what is looked at
	b.request("PUT", path+"/unload", "")
	b.bury(b.writer(), letters.Letter{Cause: "no_key", Payload: []byte("y")})
	got := b.waiting(l)
	if len(got) != 3 || got[0] != all[0] || got[1] != all[2] {
		t.Fatalf("%v wait, want %s, %s and a new one", got, all[0], all[2])
	}
	_, last, _ := parseID(all[2])
	gap := fmt.Sprintf("%d:%d:0", last.ledger, last.entry+1)
	if got, err := l.Get(t.Context(), gap); !errors.Is(err, letters.ErrUnknown) {
		t.Errorf("Get(%s) = %+v, %v; nothing was ever there", gap, got, err)
	}
	for _, id := range got {
		b.must(l.Settle(t.Context(), id))
	}
	b.wantLetters(0)
}
