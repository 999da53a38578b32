package mongostore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ErrNoCallback says that the tenant has no callback settings.
var ErrNoCallback = errors.New("no callback settings")

// aesKeySize is the length of an EncodingAESKey in characters (WeCom's page
// 90930).
const aesKeySize = 43

// Callback is what a tenant has agreed on with WeCom for callbacks. Printed or
// encoded, it shows the receive IDs alone.
type Callback struct {
	// Token takes part in the signature; AESKey is WeCom's EncodingAESKey, of
	// 43 characters. Both are secrets.
	Token  string `json:"-"`
	AESKey string `json:"-"`
	// ReceiveIDs are whom callbacks may be meant for, at least one: the corp ID
	// for an app of the company's own, the suite IDs of a provider's.
	ReceiveIDs []string
}

// String shows the receive IDs alone.
func (c Callback) String() string { return fmt.Sprintf("callback settings for %q", c.ReceiveIDs) }

// GoString is String: %#v shows no secret either.
func (c Callback) GoString() string { return c.String() }

// LogValue is String for log/slog.
func (c Callback) LogValue() slog.Value { return slog.StringValue(c.String()) }

func (c Callback) check() error {
	switch {
	case c.Token == "":
		return errors.New("there is no token")
	case len(c.AESKey) != aesKeySize:
		return fmt.Errorf("the EncodingAESKey does not have %d characters", aesKeySize)
	case len(c.ReceiveIDs) == 0 || slices.Contains(c.ReceiveIDs, ""):
		return errors.New("there is no receive ID, or an empty one")
	}
	return nil
}

// PutCallback seals and writes the callback settings of a tenant, all at once.
// Without a key it writes nothing: seal.ErrNoKeys.
func (f *Facts) PutCallback(ctx context.Context, tenant string, callback Callback) error {
	if err := errors.Join(checkTenantID(tenant), callback.check()); err != nil {
		return fmt.Errorf("put callback settings: %w", err)
	}
	token, err := placeCallbackToken.seal(f.keys, tenant, callback.Token)
	if err != nil {
		return fmt.Errorf("put callback settings of tenant %s: %w", tenant, err)
	}
	key, err := placeCallbackKey.seal(f.keys, tenant, callback.AESKey)
	if err != nil {
		return fmt.Errorf("put callback settings of tenant %s: %w", tenant, err)
	}
	err = upsert(ctx, f.credentials, tenant, bson.D{kv("$set", bson.D{
		kv("callback", callbackDoc{Token: token, AESKey: key, ReceiveIDs: callback.ReceiveIDs}),
	})})
	if err != nil {
		return fmt.Errorf("put callback settings of tenant %s: %w", tenant, err)
	}
	return nil
}

// Callback returns the callback settings of a tenant; ErrNoCallback when there
// are none. A secret that does not open is an error of package seal.
func (d *Database) Callback(ctx context.Context, tenant string) (Callback, error) {
	doc, _, err := findOne[credentialsDoc](ctx, d.db.Collection(credentialsCollection), tenant,
		fields([]string{"callback"}))
	if err != nil {
		return Callback{}, err
	}
	stored := doc.Callback
	if stored.Token == "" || stored.AESKey == "" || len(stored.ReceiveIDs) == 0 {
		return Callback{}, fmt.Errorf("tenant %s: %w", tenant, ErrNoCallback)
	}
	token, tokenErr := placeCallbackToken.open(d.keys, tenant, stored.Token)
	key, keyErr := placeCallbackKey.open(d.keys, tenant, stored.AESKey)
	if err := errors.Join(tokenErr, keyErr); err != nil {
		return Callback{}, err
	}
	return Callback{Token: token, AESKey: key, ReceiveIDs: stored.ReceiveIDs}, nil
}
