package wecom

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// ErrNoCredentials says that a tenant has no corp ID or no secret.
var ErrNoCredentials = errors.New("the tenant has no WeCom credentials")

// errCredentialsSource marks a failure of the source of credentials, which
// says nothing about WeCom.
var errCredentialsSource = errors.New("credentials could not be read")

// Credentials finds the corp ID and the app secret of a tenant. It is asked
// when a token has to be fetched and while a tenant's credentials are refused,
// not on every call.
type Credentials interface {
	// Credentials returns ErrNoCredentials, possibly wrapped, for a tenant
	// without any; another error means that nobody could be asked.
	Credentials(ctx context.Context, tenant string) (corpID string, secret Secret, err error)
}

// account is a tenant's way into one app of one corp.
type account struct {
	tenant string
	corpID string
	secret Secret
}

// key names the account in a store. It changes with the credentials, so that
// neither a token nor a refusal outlives those it was given for. The secret
// cannot be found from it: 96 bits of a hash over 43 random characters.
func (a account) key() string {
	sum := sha256.Sum256([]byte(a.corpID + "\x00" + a.secret.Reveal()))
	return a.tenant + "/" + hex.EncodeToString(sum[:12])
}
