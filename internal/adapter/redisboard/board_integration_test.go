//go:build integration

package redisboard_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisboard"
	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// A hundred processes tell of themselves and of two thousand tenants each, on a
// real server: what is read is the sum, and both stay far below the second that a
// process gives it.
func TestManyProcessesOnARealServer(t *testing.T) {
	const processes, tenants = 100, 2048
	o, err := redis.ParseURL(stacktest.RedisURL(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	prefix := "test-" + rand.Text() + ":"
	b, err := redisboard.New(client, redisboard.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	calls := make([]board.TenantMinute, tenants)
	for n := range calls {
		calls[n] = asked(fmt.Sprint("tenant-", n), now, 1, 2)
	}
	puts := make([]time.Duration, 0, processes)
	for n := range processes {
		begun := time.Now()
		if err := b.Put(t.Context(), largeReport(n), calls); err != nil {
			t.Fatal(err)
		}
		puts = append(puts, time.Since(begun))
	}
	begun := time.Now()
	reports, err := b.Reports(t.Context())
	read := time.Since(begun)
	if err != nil || len(reports) != processes || len(reports[0].Work.Top) != board.MostTenants {
		t.Errorf("%d reports, %v", len(reports), err)
	}
	begun = time.Now()
	hottest, err := b.Hottest(t.Context(), now, 10, nil)
	if err != nil || len(hottest) != 10 || hottest[0].Minute != processes || hottest[0].Refused != 2*processes {
		t.Errorf("%+v, %v", hottest, err)
	}
	t.Logf("a put of %d tenants' calls: median %v, slowest %v; %d reports read in %v; the hottest tenants in %v",
		tenants, slices.Sorted(slices.Values(puts))[processes/2], slices.Max(puts), processes, read, time.Since(begun))
	size, err := client.StrLen(t.Context(), prefix+"{board}:report:refresher:0").Result()
	if err != nil || size > 8<<10 {
		t.Errorf("a report has %d bytes, %v", size, err)
	}
	t.Logf("a full report has %d bytes", size)
}

func TestABusyHourOnARealServer(t *testing.T) {
	o, err := redis.ParseURL(stacktest.RedisURL(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	prefix, now := "test-"+rand.Text()+":", time.Now().Truncate(time.Hour)
	b, err := redisboard.New(client, redisboard.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	var calls []board.TenantMinute
	for minute := range 60 {
		calls = append(calls, asked("acme", now.Add(time.Duration(minute)*time.Minute), 10_000, 10_000))
	}
	if err := b.Put(t.Context(), board.Report{Instance: "r", Role: board.Refresher, At: now}, calls); err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("%s{t:acme}:calls:%d", prefix, now.Unix()/3600)
	bytes, err := client.MemoryUsage(t.Context(), key).Result()
	if err != nil || bytes > 2048 {
		t.Errorf("%d bytes, %v", bytes, err)
	}
	t.Logf("an hour of calls in each minute has %d bytes", bytes)
}

// largeReport names all that a report can.
func largeReport(n int) board.Report {
	held := map[reason.Reason]int{
		reason.Throttled: 1000, reason.Blocked: 1000, reason.SlowLane: 1000, reason.Backoff: 1000, reason.BreakerOpen: 1000, reason.Contended: 1000,
	}
	w := &board.Work{Held: held}
	for range board.MostTenants {
		w.Top = append(w.Top, board.TenantWork{Tenant: "a-tenant-with-a-long-name", Runnable: 1000, Held: held})
	}
	full := make(board.Freshness, len(board.Edges)+1)
	for i := range full {
		full[i] = 100_000
	}
	activity := board.Activity{Promised: full, Throttled: full, Slow: full, Refusals: held, Errors: held}
	w.LastFive, w.LastHour = activity, activity
	return board.Report{Instance: fmt.Sprint(n), Role: board.Refresher, Version: "1.4.0", At: time.Now(), Work: w}
}
