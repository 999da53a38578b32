package mongostore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/access"
)

// tokensCollection holds the bearer tokens of the API, without their secrets.
const tokensCollection = "tokens"

// Tokens keeps bearer tokens. It is access.Tokens.
type Tokens struct {
	tokens *mongo.Collection
	now    func() time.Time
}

var _ access.Tokens = (*Tokens)(nil)

// Tokens returns the store of bearer tokens.
func (d *Database) Tokens() *Tokens {
	return &Tokens{tokens: d.db.Collection(tokensCollection), now: d.now}
}

// tokenDoc is a document of the collection tokens.
type tokenDoc struct {
	ID        string    `bson:"_id"`
	Hash      []byte    `bson:"hash"`
	Tenant    string    `bson:"tenant,omitempty"`
	Scopes    []string  `bson:"scopes"`
	Note      string    `bson:"note,omitempty"`
	CreatedAt time.Time `bson:"created_at"`
	ExpiresAt time.Time `bson:"expires_at,omitempty"`
	RevokedAt time.Time `bson:"revoked_at,omitempty"`
	LastUsed  string    `bson:"last_used,omitempty"`
}

func (d tokenDoc) token() (access.Token, error) {
	t := access.Token{
		ID: d.ID, Tenant: d.Tenant, Note: d.Note, LastUsed: d.LastUsed,
		CreatedAt: utc(d.CreatedAt), ExpiresAt: utc(d.ExpiresAt), RevokedAt: utc(d.RevokedAt),
	}
	if copy(t.Hash[:], d.Hash) != len(t.Hash) {
		return access.Token{}, fmt.Errorf("token %s: its hash has %d bytes", d.ID, len(d.Hash))
	}
	for _, scope := range d.Scopes {
		t.Scopes = append(t.Scopes, access.Scope(scope))
	}
	return t, nil
}

// Token returns the token of an ID; access.ErrUnknown when there is none.
func (t *Tokens) Token(ctx context.Context, id string) (access.Token, error) {
	doc, found, err := findOne[tokenDoc](ctx, t.tokens, id, nil)
	if err != nil {
		return access.Token{}, err
	}
	if !found {
		return access.Token{}, fmt.Errorf("token %s: %w", id, access.ErrUnknown)
	}
	return doc.token()
}

// Used notes the day of a token's last use. An earlier day changes nothing.
func (t *Tokens) Used(ctx context.Context, id, day string) error {
	_, err := updateIf(ctx, t.tokens, byID(id), bson.D{kv("$max", bson.D{kv("last_used", day)})})
	if err != nil {
		return fmt.Errorf("note the use of token %s: %w", id, err)
	}
	return nil
}

// Create stores a new token.
func (t *Tokens) Create(ctx context.Context, token access.Token) error {
	doc := tokenDoc{
		ID: token.ID, Hash: token.Hash[:], Tenant: token.Tenant, Note: token.Note, CreatedAt: token.CreatedAt,
		ExpiresAt: token.ExpiresAt, RevokedAt: token.RevokedAt, LastUsed: token.LastUsed,
	}
	for _, scope := range token.Scopes {
		doc.Scopes = append(doc.Scopes, string(scope))
	}
	if _, err := t.tokens.InsertOne(ctx, doc); err != nil {
		return fmt.Errorf("create token %s: %w", token.ID, err)
	}
	return nil
}

// Revoke ends a token; access.ErrUnknown when there is none. A token that was
// revoked before keeps that instant.
func (t *Tokens) Revoke(ctx context.Context, id string) error {
	revoked, err := updateIf(ctx, t.tokens, append(byID(id), kv("revoked_at", bson.D{kv("$exists", false)})),
		bson.D{kv("$set", bson.D{kv("revoked_at", t.now())})})
	if err == nil && !revoked {
		_, err = t.Token(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("revoke token %s: %w", id, err)
	}
	return nil
}

// List returns at most limit tokens in the order of their IDs, from the one
// after an ID; "" begins.
func (t *Tokens) List(ctx context.Context, after string, limit int) ([]access.Token, error) {
	docs, err := findAll[tokenDoc](ctx, t.tokens, bson.D{kv("_id", bson.D{kv("$gt", after)})},
		page(limit).SetSort(bson.D{kv("_id", 1)}))
	all := make([]access.Token, 0, len(docs))
	for _, doc := range docs {
		token, wrong := doc.token()
		err = errors.Join(err, wrong)
		all = append(all, token)
	}
	return all, err
}
