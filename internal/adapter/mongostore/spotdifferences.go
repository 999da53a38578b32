package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// spotDifferencesCollection is Rollcall's own: a document for each code that a
// check found to differ at WeCom.
const spotDifferencesCollection = "spot_differences"

// DifferencesKept is how long a difference is kept after the last check that
// found it.
const DifferencesKept = 90 * 24 * time.Hour

// Spots is what is kept of the spot check: the differences and the days.
type Spots struct {
	differences *mongo.Collection
	days        *mongo.Collection
}

var (
	_ spot.Differences = (*Spots)(nil)
	_ spot.Days        = (*Spots)(nil)
	_ spot.Archive     = (*Spots)(nil)
)

// Spots returns the store of the spot check.
func (d *Database) Spots() *Spots {
	return &Spots{
		differences: d.db.Collection(spotDifferencesCollection),
		days:        d.db.Collection(spotDaysCollection),
	}
}

// differenceDoc is a document of the collection spot_differences.
type differenceDoc struct {
	ID           string        `bson:"_id"` // tenant/code
	Tenant       string        `bson:"tenant"`
	Code         string        `bson:"code"`
	Version      int64         `bson:"version"`
	Cause        reason.Reason `bson:"cause"`
	Ours         spotWayDoc    `bson:"ours"`
	Theirs       spotWayDoc    `bson:"theirs"`
	State        spot.State    `bson:"state"`
	SinceAtLeast time.Time     `bson:"since_at_least,omitempty"`
	SeenAt       time.Time     `bson:"seen_at"`
	LastSeen     time.Time     `bson:"last_seen"`
	Times        int           `bson:"times"`
	AgreedAt     time.Time     `bson:"agreed_at,omitempty"`
	VendorCalls  int           `bson:"vendor_calls"`
}

type spotWayDoc struct {
	Users       []string `bson:"users"`
	Departments []int64  `bson:"departments,omitempty"`
	Remark      string   `bson:"remark,omitempty"`
	State       string   `bson:"state,omitempty"`
	SkipVerify  bool     `bson:"skip_verify,omitempty"`
}

func differenceDocOf(d spot.Difference) differenceDoc {
	return differenceDoc{
		ID: refID(d.Ref), Tenant: d.Tenant, Code: d.Code, Version: d.Version, Cause: d.Cause,
		Ours: spotWayDoc(d.Ours), Theirs: spotWayDoc(d.Theirs), State: d.State,
		SinceAtLeast: d.SinceAtLeast, SeenAt: d.SeenAt, LastSeen: d.LastSeen, Times: d.Times,
		AgreedAt: d.AgreedAt, VendorCalls: d.VendorCalls,
	}
}

func (d differenceDoc) difference() spot.Difference {
	return spot.Difference{
		Ref: push.Ref{Tenant: d.Tenant, Code: d.Code}, Version: d.Version, Cause: d.Cause,
		Ours: spot.Way(d.Ours), Theirs: spot.Way(d.Theirs), State: d.State,
		SinceAtLeast: utc(d.SinceAtLeast), SeenAt: utc(d.SeenAt), LastSeen: utc(d.LastSeen), Times: d.Times,
		AgreedAt: utc(d.AgreedAt), VendorCalls: d.VendorCalls,
	}
}

// Get returns what is stored of a code.
func (s *Spots) Get(ctx context.Context, ref push.Ref) (spot.Difference, bool, error) {
	doc, found, err := findOne[differenceDoc](ctx, s.differences, refID(ref), nil)
	if err != nil || !found {
		return spot.Difference{}, false, err
	}
	return doc.difference(), true, nil
}

// Put stores a difference whose stored version is still d's.
func (s *Spots) Put(ctx context.Context, d spot.Difference) (bool, error) {
	seen := d.Version
	d.Version++
	done, err := s.put(ctx, seen, differenceDocOf(d))
	if err != nil {
		return false, fmt.Errorf("store the difference of code %s: %w", d.Code, err)
	}
	return done, nil
}

func (s *Spots) put(ctx context.Context, seen int64, doc differenceDoc) (bool, error) {
	if seen == 0 {
		_, err := s.differences.InsertOne(ctx, doc)
		if mongo.IsDuplicateKeyError(err) {
			return false, nil
		}
		return err == nil, err
	}
	result, err := s.differences.ReplaceOne(ctx, bson.D{kv("_id", doc.ID), kv("version", seen)}, doc)
	if err != nil {
		return false, err
	}
	return result.MatchedCount > 0, nil
}

// List returns differences in the order of their _ids.
func (s *Spots) List(ctx context.Context, which spot.Selection, limit int) ([]spot.Difference, error) {
	filter := bson.D{}
	if which.Tenant != "" {
		filter = append(filter, kv("tenant", which.Tenant))
	}
	if which.State != "" {
		filter = append(filter, kv("state", which.State))
	}
	docs, err := findAll[differenceDoc](ctx, s.differences, append(filter, afterRef(which.After)...),
		page(limit).SetSort(bson.D{kv("_id", 1)}))
	differences := make([]spot.Difference, 0, len(docs))
	for _, doc := range docs {
		differences = append(differences, doc.difference())
	}
	return differences, err
}
