//go:build integration

package mongostore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
)

var toldBy = notify.Channels{
	Webhook:   notify.Webhook{URL: "https://hooks.example.com/t/0k3n?x=1", Secret: "0123456789abcdef"},
	Robot:     notify.Robot{Key: "robot-k3y"},
	DailyPool: 50,
	Kinds:     []notify.Kind{notify.CeilingReachedDay, notify.StaffResigned},
}

func TestChannelsAreKept(t *testing.T) {
	c := newSealedWorld(t, time.Now, keyring(t, "a")).Channels()
	wantChannels(t, c, "acme", notify.Channels{})
	for _, channels := range []notify.Channels{toldBy, {Robot: toldBy.Robot}, {}} {
		if err := c.PutChannels(t.Context(), "acme", channels); err != nil {
			t.Fatal(err)
		}
		wantChannels(t, c, "acme", channels)
	}
	wantChannels(t, c, "globex", notify.Channels{})
}

// Whoever reads the database learns neither where a tenant is told nor how to
// write there, and what is moved to another tenant does not open.
func TestChannelsAreSealed(t *testing.T) {
	w := newSealedWorld(t, time.Now, keyring(t, "a"))
	c := w.Channels()
	if err := c.PutChannels(t.Context(), "acme", toldBy); err != nil {
		t.Fatal(err)
	}
	var doc bson.M
	if err := w.raw.Collection("channels").FindOne(t.Context(), bson.D{{Key: "_id", Value: "acme"}}).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	text, err := bson.MarshalExtJSON(doc, false, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hooks.example.com", toldBy.Webhook.Secret, toldBy.Robot.Key} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is there to read: %s", secret, text)
		}
	}
	doc["_id"] = "globex"
	if _, err := w.raw.Collection("channels").InsertOne(t.Context(), doc); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Channels(t.Context(), "globex"); !errors.Is(err, seal.ErrRefused) {
		t.Errorf("Channels of a tenant with another's document = %v, %v; want %v", got, err, seal.ErrRefused)
	}
}

func TestChannelsAreRenewedWithTheOtherSecrets(t *testing.T) {
	w := newSealedWorld(t, time.Now, keyring(t, "a"))
	if err := w.Channels().PutChannels(t.Context(), "acme", toldBy); err != nil {
		t.Fatal(err)
	}
	if done, err := w.sibling(t, keyring(t, "b", "a"), nil).Secrets().Reseal(t.Context()); err != nil || done.Renewed != 3 {
		t.Errorf("Reseal = %+v, %v; want the three of the channels renewed", done, err)
	}
	wantChannels(t, w.sibling(t, keyring(t, "b"), nil).Channels(), "acme", toldBy)
}

func TestChannelsThatAreNotKept(t *testing.T) {
	ctx := t.Context()
	c := newSealedWorld(t, time.Now, keyring(t, "a")).Channels()
	wrong := toldBy
	wrong.Webhook.URL = "http://hooks.example.com/t/0k3n"
	if err := c.PutChannels(ctx, "acme", wrong); !errors.Is(err, notify.ErrInvalidChannels) || strings.Contains(err.Error(), "0k3n") {
		t.Errorf("PutChannels = %v; want %v, without the URL", err, notify.ErrInvalidChannels)
	}
	if err := c.PutChannels(ctx, "ac/me", toldBy); err == nil {
		t.Error("channels of a name that no tenant has are kept")
	}
	wantChannels(t, c, "acme", notify.Channels{})
	keyless := newSealedWorld(t, time.Now, nil).Channels()
	if err := keyless.PutChannels(ctx, "acme", toldBy); !errors.Is(err, seal.ErrNoKeys) {
		t.Errorf("PutChannels without a key = %v; want %v", err, seal.ErrNoKeys)
	}
}

func TestTheZoneOfATenant(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, time.Now)
	for _, tenant := range []roster.Tenant{{ID: "home"}, {ID: "abroad", TimeZone: "America/New_York"}, {ID: "odd", TimeZone: "Local"}} {
		if err := w.Facts().PutTenant(ctx, tenant); err != nil {
			t.Fatal(err)
		}
	}
	for tenant, want := range map[string]string{"home": "Asia/Shanghai", "abroad": "America/New_York"} {
		if zone, err := w.Channels().Zone(ctx, tenant); err != nil || zone.String() != want {
			t.Errorf("Zone of %s = %v, %v; want %s", tenant, zone, err, want)
		}
	}
	for tenant, want := range map[string]error{"odd": roster.ErrInvalid, "nobody": push.ErrUnknownTenant} {
		if _, err := w.Channels().Zone(ctx, tenant); !errors.Is(err, want) {
			t.Errorf("Zone of %s: %v; want %v", tenant, err, want)
		}
	}
}

func wantChannels(t *testing.T, c *mongostore.Channels, tenant string, want notify.Channels) {
	t.Helper()
	got, err := c.Channels(t.Context(), tenant)
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("Channels of %s differ (%v): got pool %d, kinds %v, %v, %v", tenant, err, got.DailyPool, got.Kinds, got.Webhook, got.Robot)
	}
}
