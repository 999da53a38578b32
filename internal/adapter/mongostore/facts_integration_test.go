//go:build integration

package mongostore_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var acme = push.Ref{Tenant: "acme", Code: "c"}

func TestEditCode(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	w.seed(t, acme, 2)
	edit := mongostore.CodeEdit{
		Members: &[]roster.Member{{Staff: "staff-0001", AddLimit: 9}}, Remark: new("booth 7"),
		Switches: &roster.Switches{AddLimit: true}, Lane: new(roster.LaneSlow), OnEmpty: new(roster.KeepLast),
		Backups: &[]string{"staff-0000"}, State: new("s"), SkipVerify: new(true), Deleted: new(true),
	}
	before := time.Now().Add(-time.Second)
	if err := w.Facts().EditCode(ctx, acme, edit); err != nil {
		t.Fatalf("EditCode: %v", err)
	}
	if err := w.Facts().EditCode(ctx, acme, mongostore.CodeEdit{State: new("s2")}); err != nil {
		t.Fatalf("EditCode: %v", err)
	}
	got := w.facts(t).Code
	want := roster.Code{
		ID: "c", Tenant: "acme", ConfigID: "cfg", Family: roster.Native, Revision: 2,
		Members: *edit.Members, Backups: *edit.Backups, Switches: *edit.Switches, OnEmpty: roster.KeepLast,
		Lane: roster.LaneSlow, Deleted: true, Remark: "booth 7", State: "s2", SkipVerify: true,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(roster.Code{}, "UpdatedAt")); diff != "" {
		t.Errorf("code (-want +got):\n%s", diff)
	}
	if got.UpdatedAt.Before(before) {
		t.Errorf("updated at %v, before the edit", got.UpdatedAt)
	}
	err := w.Facts().EditCode(ctx, push.Ref{Tenant: "globex", Code: "c"}, edit)
	if !errors.Is(err, push.ErrUnknownCode) {
		t.Errorf("another tenant's edit = %v, want %v", err, push.ErrUnknownCode)
	}
}

func TestEditsOfStaff(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	w.seed(t, acme, 1)
	const id = "staff-0000"
	until := time.Now().UTC().Truncate(time.Millisecond).Add(time.Hour)
	facts := w.Facts()
	edits := map[string]func(staff string) error{
		"presence":   func(s string) error { return facts.SetPresence(ctx, "acme", s, roster.OfflineNow) },
		"schedule":   func(s string) error { return facts.SetSchedule(ctx, "acme", s, nil) },
		"resigned":   func(s string) error { return facts.MarkResigned(ctx, "acme", s) },
		"quarantine": func(s string) error { return w.Store().Quarantine(ctx, "acme", s, until, "errcode 60111") },
		"a shorter quarantine": func(s string) error {
			return w.Store().Quarantine(ctx, "acme", s, until.Add(-2*time.Hour), "errcode 60111")
		},
		"removed": func(s string) error {
			_, err := facts.MarkRemoved(ctx, "acme", s, "20261130")
			return err
		},
	}
	for name, edit := range edits {
		if err := edit(id); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := edit("nobody"); !errors.Is(err, mongostore.ErrUnknownStaff) {
			t.Errorf("%s of nobody = %v, want %v", name, err, mongostore.ErrUnknownStaff)
		}
	}
	if err := w.Store().Quarantine(ctx, "acme", id, until.Add(-2*time.Hour), "errcode 60111"); err != nil {
		t.Errorf("Quarantine: %v", err)
	}
	want := roster.Staff{ID: id, Presence: roster.OfflineNow, Resigned: true, QuarantinedUntil: until, RemovedOn: "20261130"}
	if diff := cmp.Diff(want, w.facts(t).Staff[id]); diff != "" {
		t.Errorf("staff (-want +got):\n%s", diff)
	}
	if err := facts.EndQuarantine(ctx, "acme", id); err != nil {
		t.Errorf("EndQuarantine: %v", err)
	}
	if err := facts.SetSchedule(ctx, "acme", id, officeHours()); err != nil {
		t.Errorf("SetSchedule: %v", err)
	}
	got := w.facts(t).Staff[id]
	if !got.QuarantinedUntil.IsZero() || got.Schedule == nil {
		t.Errorf("after the end of the quarantine and with a schedule: %+v", got)
	}
}

// One caller wins the mark of a day; the mark never goes back to an earlier one.
func TestMarkRemovedHasOneWinner(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	w.seed(t, acme, 1)
	for _, day := range []struct {
		day  roster.Day
		want int
	}{{"20261130", 1}, {"20261201", 1}, {"20261130", 0}} {
		var all sync.WaitGroup
		var mu sync.Mutex
		wins := 0
		for range 32 {
			all.Go(func() {
				won, err := w.Facts().MarkRemoved(ctx, "acme", "staff-0000", day.day)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("MarkRemoved: %v", err)
				}
				if won {
					wins++
				}
			})
		}
		all.Wait()
		if wins != day.want {
			t.Errorf("%d callers marked %s, want %d", wins, day.day, day.want)
		}
	}
	if got := w.facts(t).Staff["staff-0000"].RemovedOn; got != "20261201" {
		t.Errorf("removed on %s, want the later day", got)
	}
}

// 16 callbacks at a time lose no addition, and names with dots stay apart.
func TestCountAdditionIsExact(t *testing.T) {
	const racers, each = 16, 10
	ctx, w := t.Context(), newWorld(t, time.Now)
	w.seed(t, acme, 1)
	names := []string{"zhang.san@corp", "zhang%2Esan@corp", "zhang", "$zhang", "42"}
	code := roster.Code{ID: "c", Tenant: "acme"}
	for _, name := range names {
		if err := w.Facts().PutStaff(ctx, "acme", roster.Staff{ID: name}); err != nil {
			t.Fatalf("PutStaff: %v", err)
		}
		code.Members = append(code.Members, roster.Member{Staff: name})
	}
	if err := w.Facts().PutCodes(ctx, code); err != nil {
		t.Fatalf("PutCodes: %v", err)
	}
	today := roster.DayOf(time.Now(), time.UTC)
	var all sync.WaitGroup
	for i := range racers {
		all.Go(func() {
			for range each {
				a := mongostore.Addition{Ref: acme, Staff: names[i%len(names)], Day: today}
				if err := w.Facts().CountAddition(ctx, a); err != nil {
					t.Errorf("CountAddition: %v", err)
				}
			}
		})
	}
	all.Wait()
	facts := w.facts(t)
	for i, name := range names {
		want := each * ((racers + len(names) - 1 - i) / len(names))
		got := []int{
			facts.Counters.Total[name], facts.Counters.Days[today][name],
			facts.Counters.InRound[name], facts.Staff[name].Added[today],
		}
		if diff := cmp.Diff([]int{want, want, want, want}, got); diff != "" {
			t.Errorf("%s: total, day, round, company (-want +got):\n%s", name, diff)
		}
	}
	bad := mongostore.Addition{Ref: acme, Staff: "zhang", Day: "2026-11-30"}
	if err := w.Facts().CountAddition(ctx, bad); err == nil {
		t.Error("a day that is not YYYYMMDD is counted")
	}
	nobody := mongostore.Addition{Ref: acme, Staff: "nobody", Day: today}
	if err := w.Facts().CountAddition(ctx, nobody); !errors.Is(err, mongostore.ErrUnknownStaff) {
		t.Errorf("an addition of nobody = %v, want %v", err, mongostore.ErrUnknownStaff)
	}
}

// Days beyond those that are kept go with the next addition.
func TestAdditionsPruneOldDays(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	w.seed(t, acme, 1)
	for _, day := range []roster.Day{"20261101", "20261122", "20261123", "20261129"} {
		w.count(t, "staff-0000", day)
	}
	days := func() map[string]bson.M {
		out := map[string]bson.M{}
		for collection, id := range map[string]string{"counters": "c", "staff": "acme/staff-0000"} {
			var doc struct {
				Days  bson.M `bson:"days"`
				Added bson.M `bson:"added"`
			}
			if err := w.raw.Collection(collection).FindOne(ctx, bson.M{"_id": id}).Decode(&doc); err != nil {
				t.Fatalf("read %s: %v", collection, err)
			}
			out[collection] = doc.Days
			if collection == "staff" {
				out[collection] = doc.Added
			}
		}
		return out
	}
	w.count(t, "staff-0000", "20261130")
	for collection, got := range days() {
		if len(got) != 2 {
			t.Errorf("%s keeps %v, want 29 and 30 November and the seven days before", collection, got)
		}
	}
}

// The writes that docs/facts.md shows, made by a plain driver, are read as the
// page says.
func TestDocumentedProducerWrites(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, func() time.Time { return time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC) })
	upsert := options.UpdateOne().SetUpsert(true)
	writes := []struct {
		collection string
		id         string
		update     bson.M
	}{
		{"tenants", "acme", bson.M{"$set": bson.M{"time_zone": "Asia/Shanghai", "daily_total": 60}}},
		{"staff", "acme/zhang.san@corp", bson.M{"$set": bson.M{"tenant": "acme", "staff": "zhang.san@corp", "presence": "online"}}},
		{"codes", "c", bson.M{
			"$set": bson.M{
				"tenant": "acme", "config_id": "cfg", "family": "quota", "members": bson.A{bson.M{"staff": "zhang.san@corp", "daily_limit": 20}},
				"switches": bson.M{"daily_limit": true}, "updated_at": time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC),
			},
			"$inc": bson.M{"revision": 1},
		}},
		{"counters", "c", bson.M{
			"$inc":         bson.M{"total.zhang%2Esan@corp": 1, "days.20261130.zhang%2Esan@corp": 1, "in_round.zhang%2Esan@corp": 1},
			"$setOnInsert": bson.M{"tenant": "acme"},
		}},
		{"staff", "acme/zhang.san@corp", bson.M{"$inc": bson.M{"added.20261130": 1}}},
	}
	for _, write := range writes {
		_, err := w.raw.Collection(write.collection).UpdateOne(ctx, bson.M{"_id": write.id}, write.update, upsert)
		if err != nil {
			t.Fatalf("write to %s: %v", write.collection, err)
		}
	}
	want := roster.Facts{
		Tenant: roster.Tenant{ID: "acme", TimeZone: "Asia/Shanghai", DailyTotal: 60},
		Code: roster.Code{
			ID: "c", Tenant: "acme", ConfigID: "cfg", Family: roster.Quota, Revision: 1,
			Members:   []roster.Member{{Staff: "zhang.san@corp", DailyLimit: 20}},
			Switches:  roster.Switches{DailyLimit: true},
			UpdatedAt: time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC),
		},
		Staff: map[string]roster.Staff{"zhang.san@corp": {
			ID: "zhang.san@corp", Presence: roster.Online, Added: map[roster.Day]int{"20261130": 1},
		}},
		Counters: roster.Counters{
			Total:   map[string]int{"zhang.san@corp": 1},
			Days:    map[roster.Day]map[string]int{"20261130": {"zhang.san@corp": 1}},
			InRound: map[string]int{"zhang.san@corp": 1},
		},
	}
	if diff := cmp.Diff(want, w.facts(t)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestPutIsRepeatableAndKeepsWhatIsNotItsOwn(t *testing.T) {
	const many = 2300 // three bulk writes
	ctx, w := t.Context(), newWorld(t, time.Now)
	if _, err := w.raw.Collection("codes").InsertOne(ctx, bson.M{"_id": "code-0007", "title": "the producer's own"}); err != nil {
		t.Fatalf("insert: %v", err)
	}
	var codes []roster.Code
	for i := range many {
		codes = append(codes, roster.Code{ID: fmt.Sprintf("code-%04d", i), Tenant: "acme", Remark: "x"})
	}
	for range 2 {
		if err := w.Facts().PutCodes(ctx, codes...); err != nil {
			t.Fatalf("PutCodes: %v", err)
		}
	}
	if n, err := w.raw.Collection("codes").CountDocuments(ctx, bson.M{"remark": "x"}); n != many || err != nil {
		t.Errorf("%d codes, %v; want %d", n, err, many)
	}
	var kept bson.M
	if err := w.raw.Collection("codes").FindOne(ctx, bson.M{"_id": "code-0007"}).Decode(&kept); err != nil || kept["title"] == nil {
		t.Errorf("the producer's own field is gone: %v, %v", kept, err)
	}
	for name, put := range map[string]func() error{
		"a code without an ID":     func() error { return w.Facts().PutCodes(ctx, roster.Code{Tenant: "acme"}) },
		"a code without a tenant":  func() error { return w.Facts().PutCodes(ctx, roster.Code{ID: "x"}) },
		"a tenant with a slash":    func() error { return w.Facts().PutTenant(ctx, roster.Tenant{ID: "a/b"}) },
		"staff without an ID":      func() error { return w.Facts().PutStaff(ctx, "acme", roster.Staff{}) },
		"credentials of no tenant": func() error { return w.Facts().PutCredentials(ctx, "", "ww1", "s") },
	} {
		if err := put(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func (w *world) facts(t *testing.T) roster.Facts {
	t.Helper()
	facts, err := w.Store().Facts(t.Context(), acme)
	if err != nil {
		t.Fatalf("Facts: %v", err)
	}
	return facts
}

func (w *world) count(t *testing.T, staff string, day roster.Day) {
	t.Helper()
	if err := w.Facts().CountAddition(t.Context(), mongostore.Addition{Ref: acme, Staff: staff, Day: day}); err != nil {
		t.Fatalf("CountAddition: %v", err)
	}
}
