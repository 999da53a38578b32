package mongostore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/seal"
)

// channelsCollection holds how a tenant's people are told.
const channelsCollection = "channels"

// The sealed fields: whoever has one can write to its receiver.
var (
	placeWebhookURL    = place{channelsCollection, "webhook.url"}
	placeWebhookSecret = place{channelsCollection, "webhook.secret"}
	placeRobotKey      = place{channelsCollection, "robot.key"}
)

// Channels keeps how the tenants' people are told.
type Channels struct {
	channels *mongo.Collection
	tenants  *mongo.Collection
	keys     *seal.Keyring
	now      func() time.Time
}

var _ notify.Directory = (*Channels)(nil)

// Channels returns the store of channels.
func (d *Database) Channels() *Channels {
	return &Channels{
		channels: d.db.Collection(channelsCollection), tenants: d.db.Collection(tenantsCollection),
		keys: d.keys, now: d.now,
	}
}

// channelsDoc is a document of the collection channels.
type channelsDoc struct {
	Tenant    string        `bson:"_id"`
	Webhook   webhookDoc    `bson:"webhook,omitempty"`
	Robot     robotDoc      `bson:"robot,omitempty"`
	DailyPool int           `bson:"daily_pool,omitempty"`
	Kinds     []notify.Kind `bson:"kinds,omitempty"`
	UpdatedAt time.Time     `bson:"updated_at"`
}

// webhookDoc and robotDoc hold sealed texts.
type webhookDoc struct {
	URL    string `bson:"url,omitempty"`
	Secret string `bson:"secret,omitempty"`
}

type robotDoc struct {
	Key string `bson:"key,omitempty"`
}

// PutChannels replaces how a tenant's people are told; the zero Channels tells
// nobody any more. An error that wraps notify.ErrInvalidChannels is the
// caller's, and its text is for him. Without a key it writes no secret:
// seal.ErrNoKeys.
func (c *Channels) PutChannels(ctx context.Context, tenant string, channels notify.Channels) error {
	err := errors.Join(checkTenantID(tenant), channels.Validate())
	doc := channelsDoc{Tenant: tenant, DailyPool: channels.DailyPool, Kinds: channels.Kinds, UpdatedAt: c.now()}
	for _, s := range doc.secrets(&channels) {
		if err == nil {
			*s.stored, err = s.seal(c.keys, tenant, *s.plain)
		}
	}
	if err == nil {
		err = c.replace(ctx, doc)
	}
	if err != nil {
		return fmt.Errorf("put the channels of tenant %s: %w", tenant, err)
	}
	return nil
}

func (c *Channels) replace(ctx context.Context, doc channelsDoc) error {
	upserting := options.Replace().SetUpsert(true)
	_, err := c.channels.ReplaceOne(ctx, byID(doc.Tenant), doc, upserting)
	if mongo.IsDuplicateKeyError(err) { // another put created it a moment ago
		_, err = c.channels.ReplaceOne(ctx, byID(doc.Tenant), doc, upserting)
	}
	return err
}

// Channels returns how a tenant's people are told.
func (c *Channels) Channels(ctx context.Context, tenant string) (notify.Channels, error) {
	doc, _, err := findOne[channelsDoc](ctx, c.channels, tenant, nil)
	if err != nil {
		return notify.Channels{}, err
	}
	channels := notify.Channels{DailyPool: doc.DailyPool, Kinds: doc.Kinds}
	for _, s := range doc.secrets(&channels) {
		if *s.plain, err = s.open(c.keys, tenant, *s.stored); err != nil {
			return notify.Channels{}, err
		}
	}
	return channels, nil
}

// Zone returns a tenant's time zone.
func (c *Channels) Zone(ctx context.Context, tenant string) (*time.Location, error) {
	doc, found, err := findOne[tenantDoc](ctx, c.tenants, tenant, bson.D{kv("time_zone", 1)})
	if err == nil && !found {
		err = fmt.Errorf("tenant %s: %w", tenant, push.ErrUnknownTenant)
	}
	if err != nil {
		return nil, err
	}
	facts := doc.tenant()
	return facts.Location()
}

// channelSecret is one secret as it is used and as it is stored.
type channelSecret struct {
	place
	plain, stored *string
}

func (d *channelsDoc) secrets(c *notify.Channels) []channelSecret {
	return []channelSecret{
		{placeWebhookURL, &c.Webhook.URL, &d.Webhook.URL},
		{placeWebhookSecret, &c.Webhook.Secret, &d.Webhook.Secret},
		{placeRobotKey, &c.Robot.Key, &d.Robot.Key},
	}
}
