package mongostore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// MaxIntents is how many intents a record keeps; beyond it Begin lets the
// oldest go. An open intent says that what WeCom holds is unknown, and 32 of
// them say it as well as 33: only a commit that began after the latest
// deadline settles them all. A record near the limit deserves an alert: its
// calls have been ending without an answer for long.
const MaxIntents = 32

// Begin raises the epoch and opens the intent, in one conditional update. The
// intent's epoch has to be seen+1.
func (s *Store) Begin(ctx context.Context, ref push.Ref, seen int64, intent push.Intent) (bool, error) {
	if intent.Epoch != seen+1 {
		return false, fmt.Errorf("begin on code %s: intent of epoch %d after epoch %d", ref.Code, intent.Epoch, seen)
	}
	filter := bson.D{kv("_id", refID(ref)), kv("epoch", seen)}
	update := bson.D{
		kv("$set", bson.D{kv("epoch", intent.Epoch)}),
		kv("$push", bson.D{kv("intents", bson.D{
			kv("$each", []intentDoc{intentDoc(intent)}),
			kv("$slice", -MaxIntents),
		})}),
	}
	if seen > 0 {
		return s.updateRecord(ctx, "begin on", ref, filter, update)
	}
	return s.upsertRecord(ctx, "begin on", ref, filter, append(update, kv("$setOnInsert", owner(ref))))
}

// Drop removes the intent of an epoch.
func (s *Store) Drop(ctx context.Context, ref push.Ref, epoch int64) error {
	_, err := s.updateRecord(ctx, "drop an intent of", ref, byID(refID(ref)), bson.D{
		kv("$pull", bson.D{kv("intents", bson.D{kv("epoch", epoch)})}),
	})
	return err
}

// Commit sets the committed list and expects the next change, if the record's
// epoch is still committed.Epoch.
func (s *Store) Commit(ctx context.Context, ref push.Ref, committed push.Committed, settled []int64, next time.Time) (bool, error) {
	filter := bson.D{kv("_id", refID(ref)), kv("epoch", committed.Epoch)}
	update := bson.D{
		kv("$set", bson.D{kv("committed", committedDocOf(committed))}),
		kv("$unset", bson.D{kv("failure", "")}),
	}
	if len(settled) > 0 {
		update = append(update, kv("$pull", bson.D{
			kv("intents", bson.D{kv("epoch", bson.D{kv("$in", settled)})}),
		}))
	}
	if !next.IsZero() {
		update = append(update, expectation(next))
	}
	if committed.Epoch > 0 {
		return s.updateRecord(ctx, "commit", ref, filter, update)
	}
	// A code that was never pushed may have notes all the same.
	return s.upsertRecord(ctx, "commit", ref, filter, append(update, kv("$setOnInsert", owner(ref))))
}

// ExpectChange brings the record's next change forward. A code without a record
// has pushed nothing that could change.
func (s *Store) ExpectChange(ctx context.Context, ref push.Ref, at time.Time) error {
	if at.IsZero() {
		return nil
	}
	_, err := s.updateRecord(ctx, "note the next change of", ref, byID(refID(ref)), bson.D{expectation(at)})
	return err
}

// expectation never puts a change off, whoever writes it and when.
func expectation(at time.Time) bson.E { return kv("$min", bson.D{kv(nextChangeField, at)}) }

// SetFailure replaces the failure; the zero Failure clears it.
func (s *Store) SetFailure(ctx context.Context, ref push.Ref, failure push.Failure) error {
	if failure == (push.Failure{}) {
		_, err := s.updateRecord(ctx, "clear the failure of", ref, byID(refID(ref)), bson.D{
			kv("$unset", bson.D{kv("failure", "")}),
		})
		return err
	}
	// The epoch is there from the start, so that the first Begin finds it.
	err := upsert(ctx, s.records, refID(ref), bson.D{
		kv("$set", bson.D{kv("failure", failureDoc(failure))}),
		kv("$setOnInsert", append(owner(ref), kv("epoch", int64(0)))),
	})
	if err != nil {
		return fmt.Errorf("set the failure of code %s: %w", ref.Code, err)
	}
	return nil
}

// AdvanceRound moves the counters to the round after from, in one conditional
// update. An addition that is counted at the same time lands in either round.
func (s *Store) AdvanceRound(ctx context.Context, ref push.Ref, from int64) (bool, error) {
	filter := bson.D{kv("_id", ref.Code), kv("round", from)}
	if from == 0 {
		// A producer need not write the round before there is a second one.
		filter = bson.D{kv("_id", ref.Code), kv("round", bson.D{kv("$in", bson.A{int64(0), nil})})}
	}
	update := bson.D{
		kv("$set", bson.D{kv("round", from+1), kv("in_round", bson.D{})}),
		kv("$setOnInsert", bson.D{kv("tenant", ref.Tenant)}),
	}
	advance := upsertIf
	if from > 0 {
		advance = updateIf
	}
	advanced, err := advance(ctx, s.counters, filter, update)
	if err != nil {
		return false, fmt.Errorf("advance the round of code %s: %w", ref.Code, err)
	}
	return advanced, nil
}

// MarkDeleted marks the code deleted, then closes the record's intents and
// failure, of which nothing is left to finish. The epoch stays: an instance
// that was cut off must not find it fresh. It may be repeated.
func (s *Store) MarkDeleted(ctx context.Context, ref push.Ref, at time.Time) error {
	filter := bson.D{kv("_id", ref.Code), kv("tenant", ref.Tenant)}
	found, err := updateIf(ctx, s.codes, filter, bson.D{
		kv("$set", bson.D{kv("deleted", true)}),
		kv("$min", bson.D{kv("deleted_at", at)}),
	})
	if err == nil && !found {
		err = push.ErrUnknownCode
	}
	if err != nil {
		return fmt.Errorf("mark code %s deleted: %w", ref.Code, err)
	}
	_, err = s.updateRecord(ctx, "close the record of", ref, byID(refID(ref)), bson.D{
		kv("$set", bson.D{kv("intents", bson.A{})}),
		kv("$unset", bson.D{kv("failure", ""), kv(nextChangeField, "")}),
	})
	return err
}

func (s *Store) updateRecord(ctx context.Context, what string, ref push.Ref, filter, update bson.D) (bool, error) {
	done, err := updateIf(ctx, s.records, filter, update)
	if err != nil {
		return false, fmt.Errorf("%s code %s: %w", what, ref.Code, err)
	}
	return done, nil
}

func (s *Store) upsertRecord(ctx context.Context, what string, ref push.Ref, filter, update bson.D) (bool, error) {
	done, err := upsertIf(ctx, s.records, filter, update)
	if err != nil {
		return false, fmt.Errorf("%s code %s: %w", what, ref.Code, err)
	}
	return done, nil
}

// owner is what a record keeps of the code it is about.
func owner(ref push.Ref) bson.D { return bson.D{kv("tenant", ref.Tenant), kv("code", ref.Code)} }

func committedDocOf(c push.Committed) committedDoc {
	c.Members = slices.Clone(c.Members)
	c.Notes = slices.Clone(c.Notes)
	return committedDoc(c)
}
