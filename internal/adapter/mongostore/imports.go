package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/contactway"
)

// Rollcall's own collections of imports: a document a tenant, and the rows of the
// newest one.
const (
	importsCollection    = "imports"
	importRowsCollection = "import_rows"
)

// Imports is adoption.Jobs on MongoDB.
type Imports struct {
	jobs *mongo.Collection
	rows *mongo.Collection
}

var _ adoption.Jobs = (*Imports)(nil)

// Imports returns the store of imports.
func (d *Database) Imports() *Imports {
	return &Imports{jobs: d.db.Collection(importsCollection), rows: d.db.Collection(importRowsCollection)}
}

// importDoc is a document of the collection imports.
type importDoc struct {
	ID         string         `bson:"_id"` // tenant
	Run        string         `bson:"run"`
	State      adoption.State `bson:"state"`
	HadCodes   bool           `bson:"had_codes"`
	End        time.Time      `bson:"end"`
	WindowFrom time.Time      `bson:"window_from"`
	WindowTo   time.Time      `bson:"window_to"`
	Cursor     string         `bson:"cursor"`
	Rows       int            `bson:"rows"`
	Listed     int            `bson:"listed"`
	Row        int            `bson:"row"`
	At         int            `bson:"at"`
	Done       int            `bson:"done"`
	Imported   int            `bson:"imported"`
	Held       int            `bson:"held"`
	Skipped    countsByWhy    `bson:"skipped"`
	Failed     countsByWhy    `bson:"failed"`
	Started    time.Time      `bson:"started"`
	Updated    time.Time      `bson:"updated"`
	Finished   time.Time      `bson:"finished"`
	Token      int64          `bson:"token"`
	Owner      string         `bson:"owner"`
	Until      time.Time      `bson:"until"`
}

type countsByWhy map[adoption.Why]int

// importRowDoc is a document of the collection import_rows.
type importRowDoc struct {
	ID     string          `bson:"_id"` // tenant#run#seq
	Tenant string          `bson:"tenant"`
	Run    string          `bson:"run"`
	Seq    int             `bson:"seq"`
	IDs    []string        `bson:"ids"`
	Left   []importLeftDoc `bson:"left"`
	Token  int64           `bson:"token"` // of the claim that wrote it last
}

type importLeftDoc struct {
	At       int          `bson:"at"`
	ConfigID string       `bson:"config_id"`
	Why      adoption.Why `bson:"why"`
	Detail   string       `bson:"detail"`
}

func importRowID(job adoption.Job, seq int) string {
	return fmt.Sprintf("%s#%s#%06d", job.Tenant, job.Run, seq)
}

// Job reads the newest import of a tenant.
func (i *Imports) Job(ctx context.Context, tenant string) (adoption.Job, bool, error) {
	doc, found, err := findOne[importDoc](ctx, i.jobs, tenant, nil)
	if err != nil || !found {
		return adoption.Job{}, false, err
	}
	return doc.job(), true, nil
}

// Take stores a job in the place of the one seen, whose claim has ended.
func (i *Imports) Take(ctx context.Context, seen, job adoption.Job, now time.Time) (bool, error) {
	filter := bson.D{
		kv("_id", job.Tenant), kv("token", seen.Claim.Token), kv("until", bson.D{kv("$lte", now)}),
	}
	if seen.Claim.Token == 0 {
		return upsertIf(ctx, i.jobs, filter, replaceImport(job))
	}
	return updateIf(ctx, i.jobs, filter, replaceImport(job))
}

// Save writes a job's progress.
func (i *Imports) Save(ctx context.Context, job adoption.Job) (bool, error) {
	return updateIf(ctx, i.jobs, heldImport(job), replaceImport(job))
}

// Release ends a claim.
func (i *Imports) Release(ctx context.Context, job adoption.Job) error {
	_, err := updateIf(ctx, i.jobs, heldImport(job), bson.D{kv("$set", bson.D{kv("until", time.Time{})})})
	return err
}

// heldImport finds an import whose claim is the job's.
func heldImport(job adoption.Job) bson.D {
	return bson.D{kv("_id", job.Tenant), kv("token", job.Claim.Token)}
}

// PutRow writes a row, or writes over the one that an earlier claim has left.
func (i *Imports) PutRow(ctx context.Context, job adoption.Job, row adoption.Row) (bool, error) {
	filter := bson.D{kv("_id", importRowID(job, row.Seq)), kv("token", bson.D{kv("$lte", job.Claim.Token)})}
	left := make([]importLeftDoc, 0, len(row.Left))
	for _, one := range row.Left {
		left = append(left, importLeftDoc(one))
	}
	return upsertIf(ctx, i.rows, filter, bson.D{kv("$set", bson.D{
		kv("tenant", job.Tenant), kv("run", job.Run), kv("seq", row.Seq),
		kv("ids", row.IDs), kv("left", left), kv("token", job.Claim.Token),
	})})
}

// Row reads a row.
func (i *Imports) Row(ctx context.Context, job adoption.Job, seq int) (adoption.Row, bool, error) {
	doc, found, err := findOne[importRowDoc](ctx, i.rows, importRowID(job, seq), nil)
	row := adoption.Row{Seq: doc.Seq, IDs: doc.IDs}
	for _, one := range doc.Left {
		row.Left = append(row.Left, adoption.Left(one))
	}
	return row, found, err
}

// Clear removes rows of other runs.
func (i *Imports) Clear(ctx context.Context, job adoption.Job) error {
	_, err := i.rows.DeleteMany(ctx, bson.D{kv("tenant", job.Tenant), kv("run", bson.D{kv("$ne", job.Run)})})
	return err
}

// replaceImport sets every field of an import.
func replaceImport(job adoption.Job) bson.D {
	return bson.D{kv("$set", bson.D{
		kv("run", job.Run), kv("state", job.State), kv("had_codes", job.HadCodes), kv("end", job.End),
		kv("window_from", job.Window.From), kv("window_to", job.Window.To), kv("cursor", job.Cursor),
		kv("rows", job.Rows), kv("listed", job.Listed), kv("row", job.Row), kv("at", job.At),
		kv("done", job.Done), kv("imported", job.Imported), kv("held", job.Held),
		kv("skipped", countsOf(job.Skipped)), kv("failed", countsOf(job.Failed)),
		kv("started", job.Started), kv("updated", job.Updated), kv("finished", job.Finished),
		kv("token", job.Claim.Token), kv("owner", job.Claim.Owner), kv("until", job.Claim.Until),
	})}
}

// countsOf never returns nil: no counts are an empty document.
func countsOf(counts map[adoption.Why]int) countsByWhy {
	if counts == nil {
		return countsByWhy{}
	}
	return counts
}

func (d importDoc) job() adoption.Job {
	return adoption.Job{
		Tenant: d.ID, Run: d.Run, State: d.State, HadCodes: d.HadCodes, End: utc(d.End),
		Window: contactway.Window{From: utc(d.WindowFrom), To: utc(d.WindowTo)}, Cursor: d.Cursor,
		Rows: d.Rows, Listed: d.Listed, Row: d.Row, At: d.At,
		Tally:   adoption.Tally{Done: d.Done, Imported: d.Imported, Held: d.Held, Skipped: d.Skipped, Failed: d.Failed},
		Started: utc(d.Started), Updated: utc(d.Updated), Finished: utc(d.Finished),
		Claim: adoption.Claim{Token: d.Token, Owner: d.Owner, Until: utc(d.Until)},
	}
}
