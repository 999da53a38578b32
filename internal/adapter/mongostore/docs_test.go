package mongostore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Producers in other languages write numbers as doubles or 64 bits, leave out
// what they do not know and keep fields of their own.
func TestDocumentsOfOtherProducers(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC)
	t.Run("code", func(t *testing.T) {
		got := decoded[codeDoc](t, bson.D{
			kv("_id", "c"), kv("tenant", "acme"), kv("title", "Shenzhen fair"), kv("revision", 3.0),
			kv("members", bson.A{bson.D{kv("staff", "li.na"), kv("daily_limit", 20.0), kv("nick", "Na")}}),
			kv("switches", bson.D{kv("daily_limit", true)}), kv("backups", nil), kv("updated_at", at),
		}).code()
		want := roster.Code{
			ID: "c", Tenant: "acme", Revision: 3, UpdatedAt: at, Switches: roster.Switches{DailyLimit: true},
			Members: []roster.Member{{Staff: "li.na", DailyLimit: 20}},
		}
		wantSame(t, want, got)
	})
	t.Run("counters", func(t *testing.T) {
		got := decoded[countersDoc](t, bson.D{
			kv("_id", "c"), kv("total", bson.D{kv("li%2Ena", 3.0), kv("wang", int64(2))}),
			kv("days", bson.D{kv("20261130", bson.D{kv("wang", 2)}), kv("20261129", bson.D{})}),
		}).counters()
		want := roster.Counters{
			Total: map[string]int{"li.na": 3, "wang": 2},
			Days:  map[roster.Day]map[string]int{"20261130": {"wang": 2}},
		}
		wantSame(t, want, got)
	})
	t.Run("staff", func(t *testing.T) {
		got, err := decoded[staffDoc](t, bson.D{
			kv("_id", "acme/li.na"), kv("schedule", bson.D{kv("weekly", bson.A{bson.A{}, bson.A{bson.D{kv("from", 540.0), kv("to", 1080)}}})}),
			kv("added", bson.D{kv("20261130", 4.0)}), kv("quarantined_until", nil),
		}).staff()
		if err != nil {
			t.Fatalf("staff: %v", err)
		}
		want := roster.Staff{
			ID:       "li.na",
			Schedule: &roster.Schedule{Weekly: [7][]roster.Shift{1: {{From: 540, To: 1080}}}},
			Added:    map[roster.Day]int{"20261130": 4},
		}
		wantSame(t, want, got)
	})
	t.Run("a schedule of eight weekdays is no schedule", func(t *testing.T) {
		doc := staffDoc{ID: "acme/li.na", Schedule: &scheduleDoc{Weekly: make([][]shiftDoc, 8)}}
		if _, err := doc.staff(); err == nil {
			t.Error("it is accepted")
		}
	})
}

// Wherever the tenant is and whatever the hour, the tenant's today is read.
func TestDaysAroundHoldTodayEverywhere(t *testing.T) {
	zones := []*time.Location{
		time.FixedZone("UTC-12", -12*3600), time.UTC, time.FixedZone("UTC+8", 8*3600), time.FixedZone("UTC+14", 14*3600),
	}
	start := time.Date(2026, 12, 30, 0, 0, 0, 0, time.UTC)
	for hour := range 72 {
		now := start.Add(time.Duration(hour) * time.Hour)
		days := daysAround(now)
		for _, zone := range zones {
			for _, skew := range []time.Duration{-9 * time.Hour, 0, 9 * time.Hour} {
				today := roster.DayOf(now.Add(skew), zone)
				if today != days[0] && today != days[1] && today != days[2] {
					t.Fatalf("at %v it is %s in %v, and %v are read", now.Add(skew), today, zone, days)
				}
			}
		}
	}
}

func TestPrunedDaysLeaveTheKeptOnes(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	pruned := prunedDays("days", day)
	if len(pruned) != DaysPruned {
		t.Errorf("%d days are pruned, want %d", len(pruned), DaysPruned)
	}
	if first := pruned[0].Key; first != "days.20260222" {
		t.Errorf("the newest day pruned is %s, want the seventh before 1 March", first)
	}
}

// What a field was is removed when it is not set any more: a put is the whole
// document as far as this package knows it.
func TestSetAllRemovesWhatIsNotSet(t *testing.T) {
	got, err := setAll(tenantDoc{ID: "acme", Tier: "premium"}, []string{"tier", "lane", "fallback"})
	if err != nil {
		t.Fatalf("setAll: %v", err)
	}
	plain := decoded[struct {
		Set   bson.D `bson:"$set"`
		Unset bson.D `bson:"$unset"`
	}](t, got)
	if diff := cmp.Diff(bson.D{kv("tier", "premium")}, plain.Set); diff != "" {
		t.Errorf("$set (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(bson.D{kv("lane", ""), kv("fallback", "")}, plain.Unset); diff != "" {
		t.Errorf("$unset (-want +got):\n%s", diff)
	}
}

func decoded[T any](t *testing.T, doc bson.D) T {
	t.Helper()
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	var out T
	if err := bson.Unmarshal(raw, &out); err != nil {
		t.Fatalf("unmarshal: %v", err)
	}
	return out
}

func wantSame[T any](t *testing.T, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
