package mongostore

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ErrNoCredentials says that the tenant has no credentials for WeCom.
var ErrNoCredentials = errors.New("no credentials")

// credentialsDoc is a document of the collection credentials. Its formatted
// value never shows the secret.
type credentialsDoc struct {
	Tenant string `bson:"_id"`
	CorpID string `bson:"corp_id"`
	Secret string `bson:"secret"`
}

// String keeps the secret out of anything that prints the document.
func (d credentialsDoc) String() string { return "credentials of tenant " + d.Tenant }

// GoString is String: %#v shows no secret either.
func (d credentialsDoc) GoString() string { return d.String() }

// Credentials returns the corp ID and the app secret with which a tenant calls
// WeCom; ErrNoCredentials when there are none or one of the two is empty. The
// secret is for the caller alone: wrap it in a type that does not print.
func (d *Database) Credentials(ctx context.Context, tenant string) (corpID, secret string, err error) {
	doc, found, err := findOne[credentialsDoc](ctx, d.db.Collection(credentialsCollection), tenant, nil)
	if err != nil {
		return "", "", err
	}
	if !found || doc.CorpID == "" || doc.Secret == "" {
		return "", "", fmt.Errorf("tenant %s: %w", tenant, ErrNoCredentials)
	}
	return doc.CorpID, doc.Secret, nil
}

// PutCredentials writes the corp ID and the app secret of a tenant, and ends a
// suspension that the old ones have caused.
func (f *Facts) PutCredentials(ctx context.Context, tenant, corpID, secret string) error {
	if err := checkTenantID(tenant); err != nil {
		return fmt.Errorf("put credentials: %w", err)
	}
	err := upsert(ctx, f.credentials, tenant, bson.D{
		kv("$set", bson.D{kv("corp_id", corpID), kv("secret", secret)}),
	})
	if err == nil {
		_, err = updateIf(ctx, f.tenants, byID(tenant), endSuspension())
	}
	if err != nil {
		return fmt.Errorf("put credentials of tenant %s: %w", tenant, err)
	}
	return nil
}
