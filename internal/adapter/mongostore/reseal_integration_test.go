//go:build integration

package mongostore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// sibling is another process of the same installation, with keys of its own.
// before, if not nil, runs before each command that it sends.
func (w *world) sibling(t *testing.T, keys *seal.Keyring, before func(command string)) *mongostore.Database {
	t.Helper()
	opts := mongostore.Options{URI: stacktest.MongoURI(t), Database: w.raw.Name(), Timeout: 20 * time.Second, Keys: keys}
	if before != nil {
		opts.Monitor = &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) { before(e.CommandName) }}
	}
	db, err := mongostore.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

// The runbook of docs/secrets.md, step by step, with processes of the old and
// of the new configuration that keep writing all the while. At the end the old
// key is not needed, no secret is in clear, and each is the last one written.
func TestRotationUnderWrites(t *testing.T) {
	const tenants, each = 40, 12
	ctx := t.Context()
	w := newSealedWorld(t, time.Now, keyring(t, "a"))
	id := func(i int) string { return fmt.Sprintf("t%02d", i) }
	for i := range tenants {
		w.putClear(t, id(i)) // as producers wrote them before there was a key
	}
	// Step 1: the new key is there to open, not yet to seal; then it seals.
	halfway, rolledOut := w.sibling(t, keyring(t, "a", "b"), nil), w.sibling(t, keyring(t, "b", "a"), nil)
	var writers sync.WaitGroup
	var failed atomic.Int64
	for i := range tenants {
		writers.Go(func() {
			for n := range each {
				from := []*mongostore.Database{halfway, rolledOut}[n%2]
				err := from.Facts().PutCredentials(ctx, id(i), "ww1", fmt.Sprintf("hunter2-%d-%d", i, n))
				if err != nil {
					failed.Add(1)
				}
			}
		})
	}
	// Step 2: reseal, while all of them write.
	for range 3 {
		if _, err := rolledOut.Secrets().Reseal(ctx); err != nil {
			t.Errorf("Reseal: %v", err)
		}
	}
	writers.Wait()
	if failed.Load() > 0 {
		t.Fatalf("%d writes failed", failed.Load())
	}
	// The last process of the old configuration is gone; once more.
	done, err := rolledOut.Secrets().Reseal(ctx)
	if err != nil || done.Overtaken+done.Unopened > 0 {
		t.Errorf("the last reseal: %+v, %v", done, err)
	}
	wantCounts(t, rolledOut, counts("b", tenants))
	// Step 3: the old key is removed.
	after := w.sibling(t, keyring(t, "b"), nil)
	for i := range tenants {
		_, secret, err := after.Credentials(ctx, id(i))
		if want := fmt.Sprintf("hunter2-%d-%d", i, each-1); secret != want || err != nil {
			t.Errorf("%s: %q, %v; want the last one written", id(i), secret, err)
		}
		got, err := after.Callback(ctx, id(i))
		if diff := cmp.Diff(callback, got); diff != "" || err != nil {
			t.Errorf("%s: callback settings: %v (-want +got):\n%s", id(i), err, diff)
		}
	}
	if n := w.occurrences(t, "hunter2"); n != 0 {
		t.Errorf("%d documents hold a secret in clear", n)
	}
}

// A secret that somebody writes between a reseal's read and its write stays.
func TestResealNeverUndoesAWrite(t *testing.T) {
	ctx := t.Context()
	w := newSealedWorld(t, time.Now, keyring(t, "a"))
	w.putClear(t, "acme")
	var once sync.Once
	renewing := w.sibling(t, keyring(t, "b", "a"), func(command string) {
		if command != "update" {
			return
		}
		once.Do(func() {
			if err := w.Facts().PutCredentials(ctx, "acme", "ww2", "newest"); err != nil {
				t.Errorf("PutCredentials: %v", err)
			}
		})
	})
	done, err := renewing.Secrets().Reseal(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mongostore.Resealed{Sealed: 2, Renewed: 1}, done, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
	if corp, secret, err := renewing.Credentials(ctx, "acme"); corp != "ww2" || secret != "newest" || err != nil {
		t.Errorf("Credentials = %q, %q, %v; want what was written meanwhile", corp, secret, err)
	}
}

func TestResealIsRepeatable(t *testing.T) {
	ctx := t.Context()
	w := newSealedWorld(t, time.Now, keyring(t, "a"))
	w.putClear(t, "acme")
	for i, want := range []mongostore.Resealed{{Sealed: 3}, {Current: 3}} {
		done, err := w.Secrets().Reseal(ctx)
		if diff := cmp.Diff(want, done); diff != "" || err != nil {
			t.Errorf("run %d: %v (-want +got):\n%s", i+1, err, diff)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := w.Secrets().Reseal(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that is stopped = %v, want %v", err, context.Canceled)
	}
	if _, err := w.sibling(t, nil, nil).Secrets().Reseal(ctx); !errors.Is(err, seal.ErrNoKeys) {
		t.Errorf("without a key = %v, want %v", err, seal.ErrNoKeys)
	}
}

// What does not open is counted, named and left alone.
func TestSecretsThatDoNotOpen(t *testing.T) {
	ctx := t.Context()
	w := newSealedWorld(t, time.Now, keyring(t, "a"))
	for i := range 12 {
		if err := w.Facts().PutCredentials(ctx, fmt.Sprintf("t%02d", i), "ww1", "hunter2"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.raw.Collection("credentials").InsertOne(ctx, bson.M{"_id": "u", "corp_id": "ww1", "secret": "sealed:v9:x"}); err != nil {
		t.Fatal(err)
	}
	other := w.sibling(t, keyring(t, "b"), nil)
	want := counts("a", 12)
	want[1], want[2] = mongostore.SecretCount{Place: want[1].Place}, mongostore.SecretCount{Place: want[2].Place}
	want[0].Unopened = 13
	wantCounts(t, other, want)
	done, err := other.Secrets().Reseal(ctx)
	if err != nil || done.Unopened != 13 || len(done.Causes) != 10 {
		t.Errorf("Reseal = %+v, %v", done, err)
	}
	if text := done.Causes[0].Error(); !strings.Contains(text, "tenant t00") || !strings.Contains(text, `"a"`) {
		t.Errorf("the cause %q names neither tenant nor key", text)
	}
	if _, secret, err := w.Credentials(ctx, "t00"); secret != "hunter2" || err != nil {
		t.Errorf("with the right key: %q, %v", secret, err)
	}
}

// counts are so many tenants with all their secrets sealed with one key.
func counts(key string, tenants int) []mongostore.SecretCount {
	var all []mongostore.SecretCount
	for _, place := range []string{"credentials.secret", "credentials.callback.token", "credentials.callback.aes_key"} {
		all = append(all, mongostore.SecretCount{Place: place, Sealed: map[string]int{key: tenants}})
	}
	return all
}

func wantCounts(t *testing.T, db *mongostore.Database, want []mongostore.SecretCount) {
	t.Helper()
	got, err := db.Secrets().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got = got[:min(len(got), len(want))] // the places of this test come first
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}
