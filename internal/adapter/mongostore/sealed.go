package mongostore

import (
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/seal"
)

// place is a field of a collection that holds sealed texts. The collection has
// one document a tenant, whose _id is the tenant's ID.
type place struct {
	collection string
	field      string // a path with dots
}

// The places. All of them are counted and renewed by Secrets: a
// new one has to be in this list.
var (
	placeAppSecret     = place{credentialsCollection, "secret"}
	placeCallbackToken = place{credentialsCollection, "callback.token"}
	placeCallbackKey   = place{credentialsCollection, "callback.aes_key"}

	places = []place{
		placeAppSecret, placeCallbackToken, placeCallbackKey,
		placeWebhookURL, placeWebhookSecret, placeRobotKey,
	}
)

func (p place) String() string { return p.collection + "." + p.field }

// about binds a sealed text to its tenant and field. It is part of what is
// stored: changed, nothing opens any more.
func (p place) about(tenant string) string { return "tenant " + tenant + " " + p.String() }

// seal closes a secret for its place. An empty one is none and stays empty.
func (p place) seal(keys *seal.Keyring, tenant, plain string) (string, error) {
	if plain == "" {
		return "", nil
	}
	sealed, err := keys.Seal(plain, p.about(tenant))
	if err != nil {
		return "", fmt.Errorf("seal %s: %w", p, err)
	}
	return sealed, nil
}

// open returns the secret of a place. A text that is not sealed is the secret
// itself, as producers and older builds wrote it.
func (p place) open(keys *seal.Keyring, tenant, text string) (string, error) {
	if !seal.IsSealed(text) {
		return text, nil
	}
	plain, err := keys.Open(text, p.about(tenant))
	if err != nil {
		return "", fmt.Errorf("open %s of tenant %s: %w", p, tenant, err)
	}
	return plain, nil
}
