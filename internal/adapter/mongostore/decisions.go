package mongostore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/decision"
)

// decisionsCollection holds what operators decided.
const decisionsCollection = "decisions"

// DecisionsKept is how long a decision can be looked up.
const DecisionsKept = 400 * 24 * time.Hour

// Decisions is the record of what operators decided. It is decision.Book.
type Decisions struct{ decisions *mongo.Collection }

var _ decision.Book = (*Decisions)(nil)

// Decisions returns the record of what operators decided.
func (d *Database) Decisions() *Decisions {
	return &Decisions{decisions: d.db.Collection(decisionsCollection)}
}

// decisionDoc is a document of the collection decisions.
type decisionDoc struct {
	ID      string          `bson:"_id"`
	At      time.Time       `bson:"at"`
	By      string          `bson:"by"`
	Action  decision.Action `bson:"action"`
	Subject string          `bson:"subject"`
	Tenant  string          `bson:"tenant,omitempty"`
	Code    string          `bson:"code,omitempty"`
	Reason  string          `bson:"reason,omitempty"`
	Detail  string          `bson:"detail,omitempty"`
	State   decision.State  `bson:"state"`
	Failure string          `bson:"failure,omitempty"`
}

func (d decisionDoc) decision() decision.Decision {
	taken := decision.Decision(d)
	taken.At = utc(d.At)
	return taken
}

// Begin records a decision.
func (d *Decisions) Begin(ctx context.Context, taken decision.Decision) error {
	doc := decisionDoc(taken)
	doc.State, doc.Failure = decision.Begun, ""
	if _, err := d.decisions.InsertOne(ctx, doc); err != nil {
		return fmt.Errorf("record decision %s: %w", taken.ID, err)
	}
	return nil
}

var errNoDecision = errors.New("no such decision")

// End records how a decision ended.
func (d *Decisions) End(ctx context.Context, id string, state decision.State, failure string) error {
	update := bson.D{kv("$set", bson.D{kv("state", state), kv("failure", failure)})}
	found, err := updateIf(ctx, d.decisions, byID(id), update)
	if err == nil && !found {
		err = errNoDecision
	}
	if err != nil {
		return fmt.Errorf("record the end of decision %s: %w", id, err)
	}
	return nil
}

// List returns at most limit decisions (at least 1), the newest first.
func (d *Decisions) List(ctx context.Context, limit int) ([]decision.Decision, error) {
	return d.list(ctx, bson.D{}, limit)
}

// ListOf is List of a tenant's.
func (d *Decisions) ListOf(ctx context.Context, tenant string, limit int) ([]decision.Decision, error) {
	return d.list(ctx, bson.D{kv("tenant", tenant)}, limit)
}

func (d *Decisions) list(ctx context.Context, which bson.D, limit int) ([]decision.Decision, error) {
	docs, err := findAll[decisionDoc](ctx, d.decisions, which, page(limit).SetSort(bson.D{kv("at", -1), kv("_id", -1)}))
	all := make([]decision.Decision, 0, len(docs))
	for _, doc := range docs {
		all = append(all, doc.decision())
	}
	return all, err
}
