package mongostore

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/seal"
)

// ErrNoCredentials says that the tenant has no credentials for WeCom.
var ErrNoCredentials = errors.New("no credentials")

// credentialsDoc is a document of the collection credentials. Its formatted
// value never shows a secret.
type credentialsDoc struct {
	Tenant   string      `bson:"_id"`
	CorpID   string      `bson:"corp_id"`
	Secret   string      `bson:"secret"`
	Callback callbackDoc `bson:"callback"`
}

type callbackDoc struct {
	Token      string   `bson:"token"`
	AESKey     string   `bson:"aes_key"`
	ReceiveIDs []string `bson:"receive_ids"`
}

// String keeps the secrets out of anything that prints the document.
func (d credentialsDoc) String() string { return "credentials of tenant " + d.Tenant }

// GoString is String: %#v shows no secret either.
func (d credentialsDoc) GoString() string { return d.String() }

// Credentials returns the corp ID and the app secret with which a tenant calls
// WeCom; ErrNoCredentials when there are none or one of the two is empty. A
// secret that does not open is an error of package seal. The secret is for the
// caller alone: wrap it in a type that does not print.
func (d *Database) Credentials(ctx context.Context, tenant string) (corpID, secret string, err error) {
	doc, found, err := findOne[credentialsDoc](ctx, d.db.Collection(credentialsCollection), tenant,
		fields([]string{"corp_id", "secret"}))
	if err != nil {
		return "", "", err
	}
	if !found || doc.CorpID == "" || doc.Secret == "" {
		return "", "", fmt.Errorf("tenant %s: %w", tenant, ErrNoCredentials)
	}
	secret, err = placeAppSecret.open(d.keys, tenant, doc.Secret)
	if err != nil {
		return "", "", err
	}
	return doc.CorpID, secret, nil
}

// PutCredentials seals and writes the corp ID and the app secret of a tenant,
// and ends a suspension that the old ones have caused. Without a key it writes
// nothing: seal.ErrNoKeys.
func (f *Facts) PutCredentials(ctx context.Context, tenant, corpID, secret string) error {
	if err := checkTenantID(tenant); err != nil {
		return fmt.Errorf("put credentials: %w", err)
	}
	sealed, err := placeAppSecret.seal(f.keys, tenant, secret)
	if err == nil {
		err = upsert(ctx, f.credentials, tenant, bson.D{
			kv("$set", bson.D{kv("corp_id", corpID), kv("secret", sealed)}),
		})
	}
	if err == nil {
		_, err = updateIf(ctx, f.tenants, byID(tenant), endSuspension())
	}
	if err != nil {
		return fmt.Errorf("put credentials of tenant %s: %w", tenant, err)
	}
	return nil
}

// Kept says of a secret whether it is there and how, without saying what it is.
type Kept struct {
	Set   bool
	KeyID string // of the key that sealed it; "" when it is in clear
}

// CredentialsView is what may be shown of a tenant's credentials and callback
// settings.
type CredentialsView struct {
	CorpID        string
	Secret        Kept
	CallbackToken Kept
	CallbackKey   Kept
	ReceiveIDs    []string
}

// DescribeCredentials returns what may be shown; the zero view when the tenant
// has none. Nothing is opened.
func (d *Database) DescribeCredentials(ctx context.Context, tenant string) (CredentialsView, error) {
	doc, _, err := findOne[credentialsDoc](ctx, d.db.Collection(credentialsCollection), tenant, nil)
	if err != nil {
		return CredentialsView{}, err
	}
	return CredentialsView{
		CorpID:        doc.CorpID,
		Secret:        keptOf(doc.Secret),
		CallbackToken: keptOf(doc.Callback.Token),
		CallbackKey:   keptOf(doc.Callback.AESKey),
		ReceiveIDs:    doc.Callback.ReceiveIDs,
	}, nil
}

func keptOf(text string) Kept {
	id, _ := seal.KeyID(text)
	return Kept{Set: text != "", KeyID: id}
}
