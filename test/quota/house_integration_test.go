//go:build integration

package quota

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/eventlog"
	"github.com/rollcall-dev/rollcall/test/fleet"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
	"github.com/rollcall-dev/rollcall/test/standin"
)

// house is one installation of ingresses and keepers: a topic, a database and a
// key prefix of its own, and a reader of all that they publish.
type house struct {
	*testing.T
	name   string
	env    []string // of its processes, NAME=value
	db     *mongostore.Database
	fleet  *fleet.Fleet
	codecs map[string]*wecomcrypto.Codec // by tenant

	mu     sync.Mutex
	events []refresh.Event // in the order of the topic
}

func newHouse(t *testing.T, env ...string) *house {
	t.Helper()
	h := &house{T: t, name: "quota-" + rand.Text()[:10], codecs: map[string]*wecomcrypto.Codec{}}
	sealKeys := seal.Generate("test")
	keys, err := seal.ParseKeys(sealKeys)
	h.must(err)
	h.db, err = mongostore.Open(mongostore.Options{
		URI: stacktest.MongoURI(t), Database: h.name, Timeout: 20 * time.Second, Keys: keys,
	})
	h.must(err)
	h.Cleanup(func() { _ = h.db.Close(context.WithoutCancel(t.Context())) })
	standin.IndexConditions(t, stacktest.MongoURI(t), h.name, map[string]string{"contacts": "version"})
	topic := "persistent://public/default/" + h.name
	eventlog.Follow(t, topic, h.note)
	self, err := os.Executable()
	h.must(err)
	h.env = append([]string{
		"ROLLCALL_MONGODB_URI=" + stacktest.MongoURI(t),
		"ROLLCALL_MONGODB_DATABASE=" + h.name,
		"ROLLCALL_REDIS_URL=" + stacktest.RedisURL(t),
		"ROLLCALL_REDIS_KEY_PREFIX=" + h.name + ":",
		"ROLLCALL_PULSAR_URL=" + stacktest.PulsarURL(t),
		"ROLLCALL_PULSAR_TOPIC=" + topic,
		"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC=" + topic + "-dead",
		"ROLLCALL_SEAL_KEYS=" + sealKeys,
	}, env...)
	h.fleet = fleet.New(self, append(h.env, envChild+"=1"), t.TempDir())
	h.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
		defer cancel()
		if err := h.fleet.Stop(ctx); err != nil {
			t.Errorf("stop the processes: %v", err)
		}
	})
	return h
}

func (h *house) note(event refresh.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, event)
}

// published are the events so far.
func (h *house) published() []refresh.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events[:len(h.events):len(h.events)]
}

// addTenant stores a tenant that takes callbacks and is told of its ceilings.
func (h *house) addTenant(tenant roster.Tenant) {
	h.Helper()
	facts, ctx := h.db.Facts(), h.Context()
	h.must(facts.PutTenant(ctx, tenant))
	settings := mongostore.Callback{Token: rand.Text(), AESKey: aesKey(), ReceiveIDs: []string{corpOf(tenant.ID)}}
	h.must(facts.PutCallback(ctx, tenant.ID, settings))
	h.must(h.db.Channels().PutChannels(ctx, tenant.ID, notify.Channels{Robot: notify.Robot{Key: "693a91f6-7xxx-4bc4-97a0-0ec2sifa5aaa"}}))
	codec, err := wecomcrypto.New(settings.Token, settings.AESKey, corpOf(tenant.ID))
	h.must(err)
	h.codecs[tenant.ID] = codec
}

func corpOf(tenant string) string { return "corp-" + tenant }

func aesKey() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return strings.TrimSuffix(base64.StdEncoding.EncodeToString(key[:]), "=")
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}
