package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
)

const auditsCollection = "audits"

// passID is the one document that all walkers share.
const passID = "pass"

// Passes keeps the audit's pass.
type Passes struct{ passes *mongo.Collection }

var _ audit.Passes = (*Passes)(nil)

// Passes returns the keeper of the audit's pass.
func (d *Database) Passes() *Passes { return &Passes{d.db.Collection(auditsCollection)} }

// passDoc is the document of the collection audits. Every change sets all of its
// fields, the zero ones too: an end that is left out would stay that of the pass
// before.
type passDoc struct {
	ID        string           `bson:"_id"`
	Number    int64            `bson:"number"`
	Version   int64            `bson:"version"`
	Begun     time.Time        `bson:"begun"`
	Ended     time.Time        `bson:"ended"`
	Stage     audit.Stage      `bson:"stage"`
	Frontier  string           `bson:"frontier"`
	Exhausted bool             `bson:"exhausted"`
	Chunks    []chunkDoc       `bson:"chunks"`
	Serial    int64            `bson:"serial"`
	Tally     map[string]int64 `bson:"tally"`
	Last      summaryDoc       `bson:"last"`
}

type summaryDoc struct {
	Number int64            `bson:"number"`
	Begun  time.Time        `bson:"begun"`
	Ended  time.Time        `bson:"ended"`
	Tally  map[string]int64 `bson:"tally"`
}

type chunkDoc struct {
	Serial int64       `bson:"serial"`
	Stage  audit.Stage `bson:"stage"`
	From   string      `bson:"from"`
	To     string      `bson:"to"`
	Last   bool        `bson:"last"`
	Owner  string      `bson:"owner"`
	Until  time.Time   `bson:"until"`
}

// Get returns the pass; the zero Pass before the first.
func (p *Passes) Get(ctx context.Context) (audit.Pass, error) {
	doc, _, err := findOne[passDoc](ctx, p.passes, passID, nil)
	return doc.pass(), err
}

// Swap stores a pass if the stored one still has its Version.
func (p *Passes) Swap(ctx context.Context, pass audit.Pass) (bool, error) {
	seen := pass.Version
	pass.Version++
	doc := passDocOf(pass)
	update := bson.D{kv("$set", doc)}
	swap, filter := updateIf, bson.D{kv("_id", passID), kv("version", seen)}
	if seen == 0 {
		swap = upsertIf
	}
	done, err := swap(ctx, p.passes, filter, update)
	if err != nil {
		return false, fmt.Errorf("change the audit's pass: %w", err)
	}
	return done, nil
}

func passDocOf(p audit.Pass) passDoc {
	doc := passDoc{
		ID: passID, Number: p.Number, Version: p.Version, Begun: p.Begun, Ended: p.Ended, Stage: p.Stage, Frontier: p.Frontier,
		Exhausted: p.Exhausted, Chunks: make([]chunkDoc, 0, len(p.Chunks)), Serial: p.Serial, Tally: p.Tally,
		Last: summaryDoc{Number: p.Last.Number, Begun: p.Last.Begun, Ended: p.Last.Ended, Tally: p.Last.Tally},
	}
	for _, c := range p.Chunks {
		doc.Chunks = append(doc.Chunks, chunkDoc(c))
	}
	return doc
}

func (d passDoc) pass() audit.Pass {
	p := audit.Pass{
		Number: d.Number, Version: d.Version, Begun: utc(d.Begun), Ended: utc(d.Ended), Stage: d.Stage, Frontier: d.Frontier,
		Exhausted: d.Exhausted, Serial: d.Serial, Tally: d.Tally,
		Last: audit.Summary{Number: d.Last.Number, Begun: utc(d.Last.Begun), Ended: utc(d.Last.Ended), Tally: d.Last.Tally},
	}
	for _, c := range d.Chunks {
		c.Until = utc(c.Until)
		p.Chunks = append(p.Chunks, audit.Chunk(c))
	}
	return p
}
