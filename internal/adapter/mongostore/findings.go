package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

const findingsCollection = "findings"

// FindingsKept is how long a finding is kept that is not found again.
const FindingsKept = 30 * 24 * time.Hour

// Findings keeps what the audit found and no refresh can mend.
type Findings struct {
	findings *mongo.Collection
	now      func() time.Time
}

var _ audit.Findings = (*Findings)(nil)

// Findings returns the audit's findings.
func (d *Database) Findings() *Findings {
	return &Findings{findings: d.db.Collection(findingsCollection), now: d.now}
}

// Found is a finding as it is kept.
type Found struct {
	push.Ref
	Kind      reason.Reason
	Detail    string
	FirstSeen time.Time
	LastSeen  time.Time // by the last pass that came by
}

// findingDoc is a document of the collection findings.
type findingDoc struct {
	ID        string        `bson:"_id"` // kind tenant/code
	Tenant    string        `bson:"tenant"`
	Code      string        `bson:"code"`
	Kind      reason.Reason `bson:"kind"`
	Detail    string        `bson:"detail"`
	FirstSeen time.Time     `bson:"first_seen"`
	LastSeen  time.Time     `bson:"last_seen"`
}

// Note stores findings, each once a kind and code.
func (f *Findings) Note(ctx context.Context, findings ...audit.Finding) error {
	now := f.now()
	writes := make([]write, len(findings))
	for i, one := range findings {
		writes[i] = write{id: one.Kind.String() + " " + refID(one.Ref), update: bson.D{
			kv("$setOnInsert", append(owner(one.Ref), kv("kind", one.Kind), kv("first_seen", now))),
			kv("$set", bson.D{kv("detail", one.Detail), kv("last_seen", now)}),
		}}
	}
	if err := writeAll(ctx, f.findings, writes); err != nil {
		return fmt.Errorf("note %d findings: %w", len(findings), err)
	}
	return nil
}

// List returns at most limit findings that were seen at or after an instant, the
// latest first.
func (f *Findings) List(ctx context.Context, seen time.Time, limit int) ([]Found, error) {
	docs, err := findAll[findingDoc](ctx, f.findings, bson.D{kv("last_seen", bson.D{kv("$gte", seen)})},
		page(limit).SetSort(bson.D{kv("last_seen", -1), kv("_id", 1)}))
	found := make([]Found, 0, len(docs))
	for _, d := range docs {
		found = append(found, Found{
			Ref: push.Ref{Tenant: d.Tenant, Code: d.Code}, Kind: d.Kind, Detail: d.Detail,
			FirstSeen: utc(d.FirstSeen), LastSeen: utc(d.LastSeen),
		})
	}
	return found, err
}
