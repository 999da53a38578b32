package mongostore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Rollcall's own collections of fan-outs: a document a scope, and the rows of
// the one that runs.
const (
	fanOutsCollection    = "fanouts"
	fanOutRowsCollection = "fanout_rows"
)

// FanOuts is fanout.Store and fanout.Codes on MongoDB.
type FanOuts struct {
	jobs    *mongo.Collection
	rows    *mongo.Collection
	codes   *mongo.Collection
	tenants *mongo.Collection
}

var (
	_ fanout.Store = (*FanOuts)(nil)
	_ fanout.Codes = (*FanOuts)(nil)
)

// FanOuts returns the store of fan-outs.
func (d *Database) FanOuts() *FanOuts {
	return &FanOuts{
		jobs:    d.db.Collection(fanOutsCollection),
		rows:    d.db.Collection(fanOutRowsCollection),
		codes:   d.db.Collection(codesCollection),
		tenants: d.db.Collection(tenantsCollection),
	}
}

// jobDoc is a document of the collection fanouts.
type jobDoc struct {
	ID        string    `bson:"_id"` // tenant, or tenant/staff
	Tenant    string    `bson:"tenant"`
	Staff     string    `bson:"staff,omitempty"`
	Epoch     int64     `bson:"epoch"`
	Why       string    `bson:"why"`
	Key       string    `bson:"key"`
	State     string    `bson:"state"`
	Requested time.Time `bson:"requested"`
	Started   time.Time `bson:"started"`
	Finished  time.Time `bson:"finished"`
	Rows      int       `bson:"rows"`
	Total     int       `bson:"total"`
	Last      string    `bson:"last"`
	Released  int       `bson:"released"`
	Token     int64     `bson:"token"`
	Owner     string    `bson:"owner"`
	Until     time.Time `bson:"until"`
}

// rowDoc is a document of the collection fanout_rows.
type rowDoc struct {
	ID    string   `bson:"_id"` // job#epoch#seq
	Job   string   `bson:"job"`
	Epoch int64    `bson:"epoch"`
	Seq   int      `bson:"seq"`
	Codes []string `bson:"codes"`
	State string   `bson:"state"`
	Token int64    `bson:"token"` // of the claim that wrote it last
}

func scopeID(scope fanout.Scope) string {
	if scope.Staff == "" {
		return scope.Tenant
	}
	return scoped(scope.Tenant, scope.Staff)
}

func rowID(job fanout.Job, seq int) string { return fmt.Sprintf("%s#%d#%06d", job.ID, job.Epoch, seq) }

// Request begins a new epoch of the scope's fan-out, in one write. The claim of
// the one before it stays: the new one begins when that has ended.
func (f *FanOuts) Request(ctx context.Context, r fanout.Request) (fanout.Ticket, error) {
	id := scopeID(r.Scope)
	filter := byID(id)
	if r.Key != "" {
		filter = append(filter, kv("key", bson.D{kv("$ne", r.Key)}))
	}
	update := bson.D{
		kv("$inc", bson.D{kv("epoch", int64(1))}),
		kv("$set", bson.D{
			kv("why", r.Why), kv("key", r.Key), kv("state", fanout.Pending), kv("requested", r.At),
			kv("started", time.Time{}), kv("finished", time.Time{}),
			kv("rows", 0), kv("total", 0), kv("last", ""), kv("released", 0),
		}),
		kv("$setOnInsert", bson.D{
			kv("tenant", r.Tenant), kv("staff", r.Staff),
			kv("token", int64(0)), kv("owner", ""), kv("until", time.Time{}),
		}),
	}
	doc, err := f.request(ctx, id, filter, update)
	if err != nil {
		return fanout.Ticket{}, fmt.Errorf("request a fan-out of %s: %w", id, err)
	}
	return fanout.Ticket{ID: doc.ID, Epoch: doc.Epoch}, nil
}

func (f *FanOuts) request(ctx context.Context, id string, filter, update bson.D) (jobDoc, error) {
	show := fields([]string{"epoch"})
	for range upsertAttempts {
		doc, err := findAndUpdate[jobDoc](ctx, f.jobs, filter, update, show, options.FindOneAndUpdate().SetUpsert(true))
		if err == nil || !mongo.IsDuplicateKeyError(err) {
			return doc, err
		}
		// There is one: either it has this key, or it was made a moment ago.
		doc, err = findAndUpdate[jobDoc](ctx, f.jobs, filter, update, show, options.FindOneAndUpdate())
		if !errors.Is(err, mongo.ErrNoDocuments) {
			return doc, err
		}
		doc, found, err := findOne[jobDoc](ctx, f.jobs, id, show)
		if found || err != nil {
			return doc, err
		}
	}
	return jobDoc{}, errContended
}

// Open lists jobs that are not done and whose claim has ended.
func (f *FanOuts) Open(ctx context.Context, now time.Time, without []string, limit int) ([]fanout.Job, error) {
	filter := bson.D{
		kv("state", bson.D{kv("$in", bson.A{fanout.Pending, fanout.InProgress})}),
		kv("until", bson.D{kv("$lte", now)}),
	}
	if len(without) > 0 {
		filter = append(filter, kv("tenant", bson.D{kv("$nin", without)}))
	}
	docs, err := findAll[jobDoc](ctx, f.jobs, filter, page(limit).SetSort(bson.D{kv("requested", 1)}))
	return jobsOf(docs), err
}

// UnderWay lists jobs that are not done, whoever works on them, the oldest first.
func (f *FanOuts) UnderWay(ctx context.Context, limit int) ([]fanout.Job, error) {
	filter := bson.D{kv("state", bson.D{kv("$in", bson.A{fanout.Pending, fanout.InProgress})})}
	docs, err := findAll[jobDoc](ctx, f.jobs, filter, page(limit).SetSort(bson.D{kv("requested", 1)}))
	return jobsOf(docs), err
}

// List returns a tenant's fan-outs, or those of all tenants for "", by ID from
// the one after.
func (f *FanOuts) List(ctx context.Context, tenant, after string, limit int) ([]fanout.Job, error) {
	filter := bson.D{kv("_id", bson.D{kv("$gt", after)})}
	if tenant != "" {
		filter = append(filter, kv("tenant", tenant))
	}
	docs, err := findAll[jobDoc](ctx, f.jobs, filter, page(limit).SetSort(bson.D{kv("_id", 1)}))
	return jobsOf(docs), err
}

// Job reads a job.
func (f *FanOuts) Job(ctx context.Context, id string) (fanout.Job, bool, error) {
	doc, found, err := findOne[jobDoc](ctx, f.jobs, id, nil)
	return doc.job(), found, err
}

// Claim takes a job whose claim has ended.
func (f *FanOuts) Claim(ctx context.Context, seen fanout.Job, claim fanout.Claim, now time.Time) (bool, error) {
	filter := bson.D{
		kv("_id", seen.ID), kv("epoch", seen.Epoch), kv("token", claim.Token-1),
		kv("until", bson.D{kv("$lte", now)}),
	}
	return updateIf(ctx, f.jobs, filter, bson.D{kv("$set", bson.D{
		kv("token", claim.Token), kv("owner", claim.Owner), kv("until", claim.Until),
	})})
}

// Clear removes rows of earlier epochs.
func (f *FanOuts) Clear(ctx context.Context, job fanout.Job, before int64) error {
	_, err := f.rows.DeleteMany(ctx, bson.D{kv("job", job.ID), kv("epoch", bson.D{kv("$lt", before)})})
	return err
}

// AddRow writes a row, or writes over the one that an earlier claim has left.
func (f *FanOuts) AddRow(ctx context.Context, job fanout.Job, row fanout.Row) (bool, error) {
	filter := bson.D{kv("_id", rowID(job, row.Seq)), kv("token", bson.D{kv("$lte", job.Claim.Token)})}
	return upsertIf(ctx, f.rows, filter, bson.D{kv("$set", bson.D{
		kv("job", job.ID), kv("epoch", job.Epoch), kv("seq", row.Seq),
		kv("codes", row.Codes), kv("state", row.State), kv("token", job.Claim.Token),
	})})
}

// Save writes a job's progress.
func (f *FanOuts) Save(ctx context.Context, job fanout.Job) (bool, error) {
	return updateIf(ctx, f.jobs, held(job), bson.D{kv("$set", bson.D{
		kv("state", job.State), kv("rows", job.Rows), kv("total", job.Total), kv("last", job.Last),
		kv("released", job.Released), kv("started", job.Started), kv("finished", job.Finished),
		kv("until", job.Claim.Until),
	})})
}

// held finds a job that is as its holder knows it.
func held(job fanout.Job) bson.D {
	return bson.D{kv("_id", job.ID), kv("epoch", job.Epoch), kv("token", job.Claim.Token)}
}

// TakeRow begins a row, or goes on with one.
func (f *FanOuts) TakeRow(ctx context.Context, job fanout.Job, seq int) (fanout.Row, bool, error) {
	filter := bson.D{
		kv("_id", rowID(job, seq)), kv("token", bson.D{kv("$lte", job.Claim.Token)}),
		kv("state", bson.D{kv("$in", bson.A{fanout.Pending, fanout.InProgress})}),
	}
	doc, err := findAndUpdate[rowDoc](ctx, f.rows, filter, bson.D{
		kv("$set", bson.D{kv("state", fanout.InProgress), kv("token", job.Claim.Token)}),
	}, fields([]string{"seq", "codes", "state"}), options.FindOneAndUpdate())
	if errors.Is(err, mongo.ErrNoDocuments) {
		return fanout.Row{}, false, nil
	}
	return fanout.Row{Seq: doc.Seq, Codes: doc.Codes, State: fanout.State(doc.State)}, err == nil, err
}

// EndRow ends a row that the job's claim has begun.
func (f *FanOuts) EndRow(ctx context.Context, job fanout.Job, seq int) error {
	_, err := updateIf(ctx, f.rows, bson.D{
		kv("_id", rowID(job, seq)), kv("token", job.Claim.Token), kv("state", fanout.InProgress),
	}, bson.D{kv("$set", bson.D{kv("state", fanout.Done)})})
	return err
}

// Release ends a claim.
func (f *FanOuts) Release(ctx context.Context, job fanout.Job) error {
	_, err := updateIf(ctx, f.jobs, bson.D{kv("_id", job.ID), kv("token", job.Claim.Token)},
		bson.D{kv("$set", bson.D{kv("until", time.Time{})})})
	return err
}

// Of lists a scope's codes.
func (f *FanOuts) Of(ctx context.Context, scope fanout.Scope, after string, limit int) ([]string, error) {
	filter := bson.D{
		kv("tenant", scope.Tenant), kv("_id", bson.D{kv("$gt", after)}), kv("deleted", bson.D{kv("$ne", true)}),
	}
	if scope.Staff != "" {
		places, err := f.places(ctx, scope)
		if err != nil {
			return nil, err
		}
		filter = append(filter, kv("$or", places))
	}
	docs, err := findAll[struct {
		ID string `bson:"_id"`
	}](ctx, f.codes, filter, page(limit).SetSort(bson.D{kv("_id", 1)}).SetProjection(fields([]string{"_id"})))
	ids := make([]string, 0, len(docs))
	for _, doc := range docs {
		ids = append(ids, doc.ID)
	}
	return ids, err
}

// places are where a staff member may sit: on the list of members or of
// backups, and on every code that falls back to the tenant's list if he is on
// that.
func (f *FanOuts) places(ctx context.Context, scope fanout.Scope) (bson.A, error) {
	places := bson.A{bson.D{kv("members.staff", scope.Staff)}, bson.D{kv("backups", scope.Staff)}}
	doc, _, err := findOne[struct {
		Fallback []string `bson:"fallback"`
	}](ctx, f.tenants, scope.Tenant, fields([]string{"fallback"}))
	for _, staff := range doc.Fallback {
		if staff == scope.Staff {
			return append(places, bson.D{kv("on_empty", roster.TenantFallback)}), err
		}
	}
	return places, err
}

func jobsOf(docs []jobDoc) []fanout.Job {
	jobs := make([]fanout.Job, 0, len(docs))
	for _, doc := range docs {
		jobs = append(jobs, doc.job())
	}
	return jobs
}

func (d jobDoc) job() fanout.Job {
	return fanout.Job{
		Ticket: fanout.Ticket{ID: d.ID, Epoch: d.Epoch},
		Scope:  fanout.Scope{Tenant: d.Tenant, Staff: d.Staff},
		Why:    d.Why, Key: d.Key, State: fanout.State(d.State),
		Requested: utc(d.Requested), Started: utc(d.Started), Finished: utc(d.Finished),
		Rows: d.Rows, Total: d.Total, Last: d.Last, Released: d.Released,
		Claim: fanout.Claim{Token: d.Token, Owner: d.Owner, Until: utc(d.Until)},
	}
}
