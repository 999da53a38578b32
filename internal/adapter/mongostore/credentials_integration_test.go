//go:build integration

package mongostore_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/seal"
)

var callback = mongostore.Callback{
	Token: "hunter2-token", AESKey: "hunter2" + strings.Repeat("x", 36), ReceiveIDs: []string{"ww1", "suite1"},
}

func TestCredentials(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	if _, _, err := w.Credentials(ctx, "acme"); !errors.Is(err, mongostore.ErrNoCredentials) {
		t.Errorf("without credentials: %v, want %v", err, mongostore.ErrNoCredentials)
	}
	for _, secret := range []string{"s1", "s2"} {
		if err := w.Facts().PutCredentials(ctx, "acme", "ww1", secret); err != nil {
			t.Fatalf("PutCredentials: %v", err)
		}
		corp, got, err := w.Credentials(ctx, "acme")
		if corp != "ww1" || got != secret || err != nil {
			t.Errorf("Credentials = %q, %d bytes, %v", corp, len(got), err)
		}
	}
	if err := w.Facts().PutCredentials(ctx, "acme", "ww1", ""); err != nil {
		t.Fatalf("PutCredentials: %v", err)
	}
	if _, _, err := w.Credentials(ctx, "acme"); !errors.Is(err, mongostore.ErrNoCredentials) {
		t.Errorf("with an empty secret: %v, want %v", err, mongostore.ErrNoCredentials)
	}
}

func TestCallback(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	if err := w.Facts().PutCredentials(ctx, "acme", "ww1", "hunter2"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Callback(ctx, "acme"); !errors.Is(err, mongostore.ErrNoCallback) {
		t.Errorf("without settings: %v, want %v", err, mongostore.ErrNoCallback)
	}
	if err := w.Facts().PutCallback(ctx, "acme", callback); err != nil {
		t.Fatalf("PutCallback: %v", err)
	}
	got, err := w.Callback(ctx, "acme")
	if diff := cmp.Diff(callback, got); diff != "" || err != nil {
		t.Errorf("callback settings: %v (-want +got):\n%s", err, diff)
	}
	view, err := w.DescribeCredentials(ctx, "acme")
	kept := mongostore.Kept{Set: true, KeyID: "a"}
	want := mongostore.CredentialsView{
		CorpID: "ww1", Secret: kept, CallbackToken: kept, CallbackKey: kept, ReceiveIDs: callback.ReceiveIDs,
	}
	if diff := cmp.Diff(want, view); diff != "" || err != nil {
		t.Errorf("what may be shown: %v (-want +got):\n%s", err, diff)
	}
	if n := w.occurrences(t, "hunter2"); n != 0 {
		t.Errorf("%d documents hold a secret in clear", n)
	}
}

func TestCallbackIsRefused(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	for name, change := range map[string]func(*mongostore.Callback){
		"no token":            func(c *mongostore.Callback) { c.Token = "" },
		"a short key":         func(c *mongostore.Callback) { c.AESKey = "short" },
		"no receive ID":       func(c *mongostore.Callback) { c.ReceiveIDs = nil },
		"an empty receive ID": func(c *mongostore.Callback) { c.ReceiveIDs = []string{"ww1", ""} },
	} {
		wrong := callback
		change(&wrong)
		if err := w.Facts().PutCallback(ctx, "acme", wrong); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.Facts().PutCallback(ctx, "a/b", callback); err == nil {
		t.Error("a tenant with a slash is accepted")
	}
}

// What producers wrote in clear is read with and without keys; without keys
// nothing is written.
func TestSecretsInClear(t *testing.T) {
	ctx := t.Context()
	for name, keys := range map[string]*seal.Keyring{"with a key": keyring(t, "a"), "without": nil} {
		t.Run(name, func(t *testing.T) {
			w := newSealedWorld(t, time.Now, keys)
			w.putClear(t, "acme")
			corp, secret, err := w.Credentials(ctx, "acme")
			if corp != "ww1" || secret != "hunter2" || err != nil {
				t.Errorf("Credentials = %q, %d bytes, %v", corp, len(secret), err)
			}
			got, err := w.Callback(ctx, "acme")
			if diff := cmp.Diff(callback, got); diff != "" || err != nil {
				t.Errorf("callback settings: %v (-want +got):\n%s", err, diff)
			}
		})
	}
	w := newSealedWorld(t, time.Now, nil)
	if err := w.Facts().PutCredentials(ctx, "acme", "ww1", "hunter2"); !errors.Is(err, seal.ErrNoKeys) {
		t.Errorf("PutCredentials without a key = %v, want %v", err, seal.ErrNoKeys)
	}
	if err := w.Facts().PutCallback(ctx, "acme", callback); !errors.Is(err, seal.ErrNoKeys) {
		t.Errorf("PutCallback without a key = %v, want %v", err, seal.ErrNoKeys)
	}
	if n := w.occurrences(t, "ww1"); n != 0 {
		t.Errorf("%d documents were written", n)
	}
}

// A secret that is copied to another tenant, or to another field, does not open.
func TestAMovedSecretDoesNotOpen(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	if err := errors.Join(
		w.Facts().PutCredentials(ctx, "acme", "ww1", "hunter2"),
		w.Facts().PutCallback(ctx, "acme", callback),
	); err != nil {
		t.Fatal(err)
	}
	var doc bson.M
	if err := w.raw.Collection("credentials").FindOne(ctx, bson.M{"_id": "acme"}).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	doc["_id"] = "globex"
	if _, err := w.raw.Collection("credentials").InsertOne(ctx, doc); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Credentials(ctx, "globex"); !errors.Is(err, seal.ErrRefused) || !strings.Contains(err.Error(), "globex") {
		t.Errorf("another tenant's secret: %v, want %v", err, seal.ErrRefused)
	}
	if _, err := w.Callback(ctx, "globex"); !errors.Is(err, seal.ErrRefused) {
		t.Errorf("another tenant's callback settings: %v, want %v", err, seal.ErrRefused)
	}
	set := bson.M{"$set": bson.M{"callback.token": doc["secret"]}}
	if _, err := w.raw.Collection("credentials").UpdateOne(ctx, bson.M{"_id": "acme"}, set); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Callback(ctx, "acme"); !errors.Is(err, seal.ErrRefused) {
		t.Errorf("the app secret in the token's place: %v, want %v", err, seal.ErrRefused)
	}
}

// putClear writes credentials and callback settings as a plain driver does.
func (w *world) putClear(t *testing.T, tenant string) {
	t.Helper()
	_, err := w.raw.Collection("credentials").InsertOne(t.Context(), bson.M{
		"_id": tenant, "corp_id": "ww1", "secret": "hunter2",
		"callback": bson.M{"token": callback.Token, "aes_key": callback.AESKey, "receive_ids": callback.ReceiveIDs},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// occurrences counts the documents of the whole database that hold a text
// anywhere.
func (w *world) occurrences(t *testing.T, text string) int {
	t.Helper()
	names, err := w.raw.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range names {
		cursor, err := w.raw.Collection(name).Find(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		var docs []bson.Raw
		if err := cursor.All(t.Context(), &docs); err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			if bytes.Contains(doc, []byte(text)) {
				n++
			}
		}
	}
	return n
}

// keyring has a key for each ID, made of its first letter: the same ID is the
// same key.
func keyring(t testing.TB, ids ...string) *seal.Keyring {
	t.Helper()
	var entries []string
	for _, id := range ids {
		entries = append(entries, id+":"+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(id[:1]), seal.KeySize)))
	}
	keys, err := seal.ParseKeys(strings.Join(entries, ","))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
