package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// DirtySelection says which entries are meant; the zero value means all.
type DirtySelection struct {
	Tenant string        // "": of every tenant
	Reason reason.Reason // "": whatever the reasons; else one of them
}

// Select is List of the entries that are meant.
func (d *Dirty) Select(ctx context.Context, which DirtySelection, after push.Ref, limit int) ([]DirtyEntry, error) {
	from, until := "", ""
	if which.Tenant != "" {
		from, until = scoped(which.Tenant, ""), which.Tenant+"0" // '0' follows '/'
	}
	if after != (push.Ref{}) {
		from = max(from, refID(after))
	}
	ids := bson.D{kv("$gt", from)}
	if until != "" {
		ids = append(ids, kv("$lt", until))
	}
	filter := bson.D{kv("_id", ids)}
	if which.Reason != "" {
		filter = append(filter, kv("reasons", which.Reason))
	}
	return d.find(ctx, limit, filter, bson.D{kv("_id", 1)})
}

// OfCode returns the entries of a code, whoever's events made them: one unless
// events named a wrong tenant, and never more than a few.
func (d *Dirty) OfCode(ctx context.Context, code string) ([]DirtyEntry, error) {
	if err := checkCodeID(code); err != nil {
		return nil, err
	}
	return d.find(ctx, maxOfCode, bson.D{kv("code", code)}, bson.D{kv("_id", 1)})
}

// maxOfCode is how many entries of one code a person is asked to choose from.
const maxOfCode = 10

// DueNow makes an entry due at now, or leaves it due earlier, if its version is
// still the one seen; one that was released becomes due again. It changes the version: a keeper that read the entry
// before cannot postpone it any more. False: somebody else marked, postponed
// or removed it.
func (d *Dirty) DueNow(ctx context.Context, seen Seen, now time.Time) (bool, error) {
	hastened, err := updateIf(ctx, d.entries, seenEntry(seen.Ref, seen.Version), bson.D{
		kv("$min", bson.D{kv("due", now), kv("state", push.DirtyRepair)}), // a released one is so no more
		kv("$unset", bson.D{kv("confirm", "")}),
		kv("$set", bson.D{kv("version", newVersion())}),
	})
	if err != nil {
		return false, fmt.Errorf("make dirty code %s due: %w", seen.Code, err)
	}
	return hastened, nil
}
