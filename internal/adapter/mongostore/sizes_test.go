package mongostore

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// The sizes that docs/operations/sizing.md names, in bytes of BSON, with IDs as
// long as WeCom's: a tenant of 18, a code of 12, staff of 12. A page that is used
// to buy disks has to follow the documents.
func TestDocumentsAreAsLargeAsTheSizingPageSays(t *testing.T) {
	for _, tt := range []struct {
		what string
		doc  any
		page int // the page's figure; the document is no larger, and not much smaller
	}{
		{"code of 10 members", sizedCode(10), 850},
		{"code of 100 members", sizedCode(100), 5400},
		{"record of 10 members", sizedRecord(10), 600},
		{"record of 100 members", sizedRecord(100), 2500},
		{"counters of 10 members, a week", sizedCounters(10), 2050},
		{"counters of 100 members, a week", sizedCounters(100), 18_500},
		{"staff member with a schedule of five days, a week of additions", sizedStaff(), 560},
		{"dirty entry", sizedDirty(), 300},
		{"contact with one addition", sizedContact(), 500},
		{"fan-out row of 500 codes", sizedRow(500), 11_100},
		{"push in a trail, of one move", sizedPush(), 250},
	} {
		t.Run(tt.what, func(t *testing.T) {
			raw, err := bson.Marshal(tt.doc)
			if err != nil {
				t.Fatal(err)
			}
			if len(raw) > tt.page || len(raw) < tt.page*8/10 {
				t.Errorf("%d bytes; the page says %d", len(raw), tt.page)
			}
		})
	}
}

const sizedTenant = "wwd08c8e7c775ab44d"

var sizedAt = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func sizedStaffID(i int) string { return fmt.Sprintf("zhang.san%03d", i) }

func sizedStaffIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = sizedStaffID(i)
	}
	return ids
}

// sizedPush is the entry of a push with one move, of an event that was traced.
func sizedPush() trailDoc {
	return trailDoc{ID: pushID("c-0000123456", 1234), Tenant: sizedTenant, Push: trailEntryOf(trail.Entry{
		At: sizedAt, Kind: trail.Pushed, Epoch: 1234, Size: 10, Moves: []trail.Move{{Staff: sizedStaffID(1), Came: true, Why: reason.Eligible}},
		Trigger: trail.Trigger{Reason: "staff_offline", Message: "123:45678:0", PublishedAt: sizedAt}, Trace: "4bf92f3577b34da6a3ce929d0e0e4736",
	})}
}

func sizedCode(members int) codeDoc {
	d := codeDoc{
		ID: "c-0000123456", Tenant: sizedTenant, ConfigID: "42b34949e138eb6e027c123cba77fAAA", Family: "quota",
		Backups: sizedStaffIDs(2), Switches: switchesDoc{OfflineCheck: true, DailyLimit: true}, Revision: 7,
		CreatedAt: sizedAt, UpdatedAt: sizedAt, Remark: "Shenzhen fair", State: "c-0000123456",
	}
	for _, id := range sizedStaffIDs(members) {
		d.Members = append(d.Members, memberDoc{Staff: id, DailyLimit: 20})
	}
	return d
}

func sizedRecord(members int) recordDoc {
	return recordDoc{
		ID: sizedTenant + "/c-0000123456", Tenant: sizedTenant, Code: "c-0000123456", Epoch: 41,
		Committed: committedDoc{Members: sizedStaffIDs(members), Hash: "0123456789abcdef", Epoch: 41, At: sizedAt, Revision: 7, Rotates: true},
		Intents:   []intentDoc{}, NextChange: sizedAt,
	}
}

func sizedCounters(members int) countersDoc {
	counts := func() map[string]int {
		m := map[string]int{}
		for _, id := range sizedStaffIDs(members) {
			m[fieldName(id)] = 7
		}
		return m
	}
	d := countersDoc{ID: "c-0000123456", Tenant: sizedTenant, Total: counts(), InRound: counts(), Days: map[string]map[string]int{}}
	for i := range DaysKept {
		d.Days[sizedAt.AddDate(0, 0, -i).Format("20060102")] = counts()
	}
	return d
}

func sizedStaff() staffDoc {
	day := []shiftDoc{{From: 540, To: 720}, {From: 780, To: 1080}}
	d := staffDoc{
		ID: sizedTenant + "/" + sizedStaffID(1), Presence: "online", Added: map[string]int{},
		Schedule: &scheduleDoc{TimeZone: "Asia/Shanghai", Weekly: [][]shiftDoc{{}, day, day, day, day, day, {}}},
	}
	for i := range DaysKept {
		d.Added[sizedAt.AddDate(0, 0, -i).Format("20060102")] = 12
	}
	return d
}

func sizedDirty() dirtyDoc {
	return dirtyDoc{
		ID: sizedTenant + "/c-0000123456", Tenant: sizedTenant, Code: "c-0000123456",
		Reasons: []reason.Reason{reason.Throttled}, Detail: "no slot within the horizon", State: push.DirtyWaits,
		Due: sizedAt, FirstSeen: sizedAt, LastSeen: sizedAt, Count: 1, Version: newVersion(),
	}
}

func sizedContact() contactDoc {
	const customer = "wmqfasd1e19278asdasAAAAAAAAAAAAA"
	return contactDoc{
		ID: sizedTenant + "/" + sizedStaffID(1) + "/" + customer, Tenant: sizedTenant, Staff: sizedStaffID(1), Customer: customer, Version: 3,
		Entries:   []entryDoc{{Change: "add_external_contact", At: sizedAt, State: "c-0000123456", Code: "c-0000123456", Counted: true}},
		Additions: []additionDoc{{ID: newVersion(), Code: "c-0000123456", Day: "20261130", At: sizedAt}}, At: sizedAt,
	}
}

func sizedRow(codes int) rowDoc {
	d := rowDoc{ID: sizedTenant + "#7#12", Job: sizedTenant, Epoch: 7, Seq: 12, State: "done", Token: 9}
	for i := range codes {
		d.Codes = append(d.Codes, fmt.Sprintf("c-%010d", i))
	}
	return d
}
