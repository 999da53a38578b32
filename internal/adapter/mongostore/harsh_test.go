package mongostore

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/drivertest"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/xoptions"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// What a real replica set does and no stand-in shows: it refuses an upsert with
// E11000 although the condition holds, loses its primary in the middle of a
// write, and confirms a write that a majority never had.

// Answers of a server to an update or a delete.
var (
	updated     = bson.D{kv("ok", 1), kv("n", 1), kv("nModified", 1)}
	nothing     = bson.D{kv("ok", 1), kv("n", 0), kv("nModified", 0)}
	created     = bson.D{kv("ok", 1), kv("n", 1), kv("upserted", bson.A{bson.D{kv("index", 0), kv("_id", "x")}})}
	duplicate   = bson.D{kv("ok", 1), kv("n", 0), kv("writeErrors", bson.A{bson.D{kv("index", 0), kv("code", 11000), kv("errmsg", "E11000 duplicate key")}})}
	noMajority  = bson.D{kv("ok", 1), kv("n", 1), kv("nModified", 1), kv("writeConcernError", bson.D{kv("code", 64), kv("errmsg", "waiting for replication timed out")})}
	steppedDown = bson.D{kv("ok", 0), kv("code", 189), kv("errmsg", "primary stepped down"), kv("codeName", "PrimarySteppedDown")}
)

func TestWritesOnAHarshServer(t *testing.T) {
	ref := push.Ref{Tenant: "acme", Code: "c"}
	begin := func(ctx context.Context, s *Store) (bool, error) { return s.Begin(ctx, ref, 0, push.Intent{Epoch: 1}) }
	beginLater := func(ctx context.Context, s *Store) (bool, error) { return s.Begin(ctx, ref, 4, push.Intent{Epoch: 5}) }
	commit := func(ctx context.Context, s *Store) (bool, error) {
		return s.Commit(ctx, ref, push.Committed{Epoch: 3}, []int64{3}, time.Time{})
	}
	setFailure := func(ctx context.Context, s *Store) (bool, error) {
		return true, s.SetFailure(ctx, ref, push.Failure{Streak: 1, Class: reason.Transient})
	}
	advance := func(ctx context.Context, s *Store) (bool, error) { return s.AdvanceRound(ctx, ref, 0) }

	tests := map[string]struct {
		do      func(context.Context, *Store) (bool, error)
		answers []bson.D
		want    bool
		wantErr bool
		updates int
	}{
		"the first begin creates the record":                     {begin, []bson.D{created}, true, false, 1},
		"a begin beside a failure that creates the record":       {begin, []bson.D{duplicate, updated}, true, false, 2},
		"a begin that lost to another begin":                     {begin, []bson.D{duplicate, nothing}, false, false, 2},
		"a later begin that lost creates nothing":                {beginLater, []bson.D{nothing}, false, false, 1},
		"a begin of which no majority knows":                     {begin, []bson.D{noMajority}, false, true, 1},
		"a commit of which no majority knows":                    {commit, []bson.D{noMajority}, false, true, 1},
		"a commit that was superseded":                           {commit, []bson.D{nothing}, false, false, 1},
		"a failure beside the first begin":                       {setFailure, []bson.D{duplicate, updated}, true, false, 2},
		"a failure of a record that comes and goes":              {setFailure, []bson.D{duplicate, nothing, created}, true, false, 3},
		"the first round beside the first addition":              {advance, []bson.D{duplicate, updated}, true, false, 2},
		"the first round, advanced by another":                   {advance, []bson.D{duplicate, nothing}, false, false, 2},
		"a primary that is gone for good leaves a begin unknown": {begin, []bson.D{steppedDown, steppedDown, steppedDown}, false, true, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			db, sent := scripted(t, test.answers...)
			got, err := test.do(t.Context(), db.Store())
			if (err != nil) != test.wantErr || (err == nil && got != test.want) {
				t.Errorf("= %v, %v; want %v, error %v", got, err, test.want, test.wantErr)
			}
			if test.updates != 0 && len(*sent) != test.updates {
				t.Errorf("sent %v, want %d updates", *sent, test.updates)
			}
		})
	}
}

func TestMarkOnAHarshServer(t *testing.T) {
	mark := push.Mark{Ref: push.Ref{Tenant: "acme", Code: "c"}, Reason: reason.Overflow, Due: time.Unix(1, 0)}
	forever := slices.Repeat([]bson.D{duplicate, nothing}, upsertAttempts)
	tests := map[string]struct {
		answers []bson.D
		wantErr bool
		updates int
	}{
		"beside another mark":                        {[]bson.D{duplicate, updated}, false, 2},
		"while a keeper removes the entry":           {[]bson.D{duplicate, nothing, created}, false, 3},
		"never reported as done when it was not":     {forever, true, 2 * upsertAttempts},
		"not reported as done without a majority":    {[]bson.D{noMajority}, true, 1},
		"refused for a reason that no retry removes": {[]bson.D{{kv("ok", 0), kv("code", 13), kv("errmsg", "not authorized")}}, true, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			db, sent := scripted(t, test.answers...)
			if err := db.Dirty().Mark(t.Context(), mark); (err != nil) != test.wantErr {
				t.Errorf("Mark = %v, want error %v", err, test.wantErr)
			}
			if len(*sent) != test.updates {
				t.Errorf("sent %v, want %d updates", *sent, test.updates)
			}
		})
	}
}

// A bulk write that met E11000 is repeated once as a whole.
func TestBulkWriteOnAHarshServer(t *testing.T) {
	db, sent := scripted(t, duplicate, updated)
	if err := writeAll(t.Context(), db.Facts().codes, []write{{id: "c", update: bson.D{kv("$set", bson.D{kv("a", 1)})}}}); err != nil {
		t.Errorf("writeAll = %v", err)
	}
	if len(*sent) != 2 {
		t.Errorf("sent %v, want the chunk twice", *sent)
	}
	db, _ = scripted(t, duplicate, duplicate)
	if err := writeAll(t.Context(), db.Facts().codes, []write{{id: "c", update: bson.D{kv("$set", bson.D{kv("a", 1)})}}}); !mongo.IsDuplicateKeyError(err) {
		t.Errorf("writeAll = %v, want the second refusal", err)
	}
}

// scripted is a database whose server gives these answers, one a command, and
// the names of the commands that it has been sent.
func scripted(t *testing.T, answers ...bson.D) (*Database, *[]string) {
	t.Helper()
	sent := &[]string{}
	opts := options.Client().SetMonitor(&event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		*sent = append(*sent, e.CommandName)
	}})
	if err := xoptions.SetInternalClientOptions(opts, "deployment", drivertest.NewMockDeployment(answers...)); err != nil {
		t.Fatalf("mock deployment: %v", err)
	}
	client, err := mongo.Connect(opts)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() {
		if err := client.Disconnect(context.Background()); err != nil {
			t.Errorf("disconnect: %v", err)
		}
	})
	return &Database{client: client, db: client.Database("test"), now: time.Now}, sent
}
