package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/registry"
)

// idempotencyCollection holds what requests with an idempotency key were
// answered.
const idempotencyCollection = "idempotency"

// Answers keeps answers by idempotency key.
type Answers struct{ answers *mongo.Collection }

var _ registry.Answers = (*Answers)(nil)

// Answers returns the store of answers.
func (d *Database) Answers() *Answers {
	return &Answers{answers: d.db.Collection(idempotencyCollection)}
}

// answerDoc is a document of the collection idempotency. A claim without an
// answer has no status.
type answerDoc struct {
	ID          string    `bson:"_id"` // scope/key
	Fingerprint string    `bson:"fingerprint"`
	Until       time.Time `bson:"until"`
	Expires     time.Time `bson:"expires"`
	Status      int       `bson:"status"`
	Body        []byte    `bson:"body"`
	Location    string    `bson:"location"`
}

// Claim takes a key that nobody has, or whose holder has died, or that is
// forgotten. It does not wait for MongoDB to remove what has expired.
func (a *Answers) Claim(ctx context.Context, claim registry.Claim, now time.Time) (registry.ClaimState, registry.Answer, error) {
	id := scoped(claim.Scope, claim.Key)
	free := append(byID(id), kv("$or", bson.A{
		bson.D{kv("expires", bson.D{kv("$lte", now)})},
		bson.D{kv("status", 0), kv("until", bson.D{kv("$lte", now)}), kv("fingerprint", claim.Fingerprint)},
	}))
	won, err := upsertIf(ctx, a.answers, free, bson.D{kv("$set", bson.D{
		kv("fingerprint", claim.Fingerprint), kv("until", claim.Until), kv("expires", claim.Expires),
		kv("status", 0), kv("body", []byte(nil)), kv("location", ""),
	})})
	if err != nil {
		return 0, registry.Answer{}, fmt.Errorf("claim an idempotency key: %w", err)
	}
	if won {
		return registry.Claimed, registry.Answer{}, nil
	}
	doc, found, err := findOne[answerDoc](ctx, a.answers, id, nil)
	switch {
	case err != nil:
		return 0, registry.Answer{}, fmt.Errorf("read an idempotency key: %w", err)
	case !found: // dropped a moment ago
		return registry.InProgress, registry.Answer{}, nil
	case doc.Fingerprint != claim.Fingerprint:
		return registry.Reused, registry.Answer{}, nil
	case doc.Status == 0:
		return registry.InProgress, registry.Answer{}, nil
	}
	return registry.Answered, registry.Answer{Status: doc.Status, Body: doc.Body, Location: doc.Location}, nil
}

// Store keeps the answer of a claim that still holds.
func (a *Answers) Store(ctx context.Context, claim registry.Claim, answer registry.Answer) error {
	_, err := updateIf(ctx, a.answers, claimed(claim), bson.D{kv("$set", bson.D{
		kv("status", answer.Status), kv("body", answer.Body), kv("location", answer.Location),
	})})
	if err != nil {
		return fmt.Errorf("store the answer of an idempotency key: %w", err)
	}
	return nil
}

// Drop gives a claim up that still holds.
func (a *Answers) Drop(ctx context.Context, claim registry.Claim) error {
	if _, err := a.answers.DeleteOne(ctx, claimed(claim)); err != nil {
		return fmt.Errorf("give an idempotency key up: %w", err)
	}
	return nil
}

// claimed finds a key as its claim has left it.
func claimed(claim registry.Claim) bson.D {
	return append(byID(scoped(claim.Scope, claim.Key)),
		kv("status", 0), kv("fingerprint", claim.Fingerprint), kv("until", claim.Until))
}
