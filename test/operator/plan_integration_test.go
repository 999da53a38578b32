//go:build integration

package operator_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// workers are so many people on line.
func workers(n int) []roster.Staff {
	staff := make([]roster.Staff, n)
	for i := range staff {
		staff[i] = roster.Staff{ID: fmt.Sprintf("s%02d", i), Presence: roster.Online}
	}
	return staff
}

// codesOf deals people onto codes, with a seed.
func codesOf(codes, seats int, staff []roster.Staff) []roster.Code {
	rnd := rand.New(rand.NewPCG(5, 8))
	now := time.Now()
	out := make([]roster.Code, codes)
	for i := range out {
		out[i] = roster.Code{ID: fmt.Sprintf("c%04d", i), Switches: roster.Switches{OfflineCheck: true}, CreatedAt: now, UpdatedAt: now}
		for _, at := range rnd.Perm(len(staff))[:seats] {
			out[i].Members = append(out[i].Members, roster.Member{Staff: staff[at].ID})
		}
	}
	return out
}

// A quota storm: half of the people are on the campaign's codes, which alone are
// scanned, as they were yesterday. They reach the company's ceiling within a few
// seconds, and leave 120 codes each.
func TestPlanOfAQuotaStorm(t *testing.T) {
	h := newPlanHouse(t)
	staff := workers(36)
	codes := slices.Concat(codesOf(720, 6, staff), codesOf(20, 6, staff[:18]))
	ads := codes[720:]
	for i := range codes {
		codes[i].ID = fmt.Sprintf("c%04d", i)
		codes[i].CreatedAt = codes[i].CreatedAt.AddDate(0, -1, 0) // not new: nobody scans the others
	}
	h.open(roster.Tenant{ID: planTenant, DailyTotal: 6}, staff, codes)
	yesterday := roster.DayOf(time.Now().AddDate(0, 0, -1), time.FixedZone("", 8*60*60))
	for _, code := range ads {
		ref := push.Ref{Tenant: planTenant, Code: code.ID}
		h.must(h.db.Facts().CountAddition(t.Context(), mongostore.Addition{Ref: ref, Staff: code.Members[0].Staff, Day: yesterday}))
	}
	const customers, over = 220, 8 * time.Second
	h.compare(campaign{
		announced: []string{"--for", over.String(), "--additions", fmt.Sprintf("%d/%v", customers, over)},
		happens:   func() { h.scan(customers, over, ads) },
	})
}

// A presence storm: everybody but the desk goes off line within two seconds, and
// comes back ten seconds later.
func TestPlanOfAPresenceStorm(t *testing.T) {
	h := newPlanHouse(t)
	staff := workers(30)
	codes := codesOf(600, 5, staff)
	for i := range codes {
		codes[i].Backups = []string{"desk"}
	}
	h.open(roster.Tenant{ID: planTenant}, append(workers(30), roster.Staff{ID: "desk", Presence: roster.Online}), codes)
	everybody := func(to roster.Presence, from time.Time) {
		for i, s := range staff {
			waitUntil(h, from.Add(time.Duration(i)*2*time.Second/time.Duration(len(staff))))
			h.setPresence(s.ID, to)
		}
	}
	h.compare(campaign{
		announced: []string{"--for", "12s", "--change", "-desk:off@+0s/2s", "--change", "-desk:on@+10s/2s"},
		happens: func() {
			begun := time.Now()
			everybody(roster.OfflineNow, begun)
			everybody(roster.Online, begun.Add(10*time.Second))
		},
	})
}

// An even day, half of the codes in the slow lane: people come and go at times of
// their own, and customers bring members to their daily ceilings.
func TestPlanOfAnEvenDay(t *testing.T) {
	h := newPlanHouse(t)
	staff := workers(20)
	codes := codesOf(120, 4, staff)
	for i := range codes {
		codes[i].Switches.DailyLimit = true
		for j := range codes[i].Members {
			codes[i].Members[j].DailyLimit = 2
		}
		if i%2 == 0 {
			codes[i].CreatedAt = codes[i].CreatedAt.AddDate(-1, 0, 0)
			codes[i].UpdatedAt = codes[i].CreatedAt
		}
	}
	h.open(roster.Tenant{ID: planTenant}, staff, codes)
	h.plansOfAll()
	const customers, over, each = 300, 30 * time.Second, 4
	h.compare(campaign{
		announced: []string{"--for", over.String(), "--additions", fmt.Sprintf("%d/%v", customers, over), "--presence", fmt.Sprintf("%d/%v", each, over)},
		happens: func() {
			done := make(chan struct{})
			go func() { defer close(done); h.comeAndGo(staff, each, over) }()
			h.scan(customers, over, codes)
			<-done
		},
	})
}

// comeAndGo has each person go and come, so often each, at random times.
func (h *planHouse) comeAndGo(staff []roster.Staff, each int, over time.Duration) {
	rnd := rand.New(rand.NewPCG(3, 1))
	begun := time.Now()
	n := each * len(staff)
	at := make(map[string]roster.Presence)
	order := rnd.Perm(n)
	for i, who := range order {
		waitUntil(h, begun.Add(time.Duration(float64(over)*(float64(i)+rnd.Float64())/float64(n))))
		id := staff[who%len(staff)].ID
		if at[id] == roster.OfflineNow {
			at[id] = roster.Online
		} else {
			at[id] = roster.OfflineNow
		}
		h.setPresence(id, at[id])
	}
}

// waitUntil waits for an instant of the campaign.
func waitUntil(h *planHouse, at time.Time) {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-h.Context().Done():
	case <-t.C:
	}
}
