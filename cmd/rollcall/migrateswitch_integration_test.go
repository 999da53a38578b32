//go:build integration

package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// landing is how long a call under way may take to land in this test.
const landing = 600 * time.Millisecond

// keeper runs beside the operator until the test ends: it works on fan-outs.
func (h *house) keeper() {
	h.t.Helper()
	cfg := h.cfg
	cfg.Redis.URL, cfg.Redis.KeyPrefix = config.NewSecretURL(stacktest.RedisURL(h.t)), cfg.MongoDB.Database+":"
	cfg.Telemetry.HTTPAddr, cfg.Telemetry.LogLevel = "127.0.0.1:0", slog.LevelError+4
	ctx, stop := context.WithCancel(context.WithoutCancel(h.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- service.RunKeeper(ctx, cfg, "test") }()
	h.t.Cleanup(func() {
		stop()
		h.must(<-ended)
	})
}

// An operator puts a tenant into shadow mode and back to live, one command after
// the other; a tenant that is not ready is refused until he insists.
func TestATenantIsSwitchedThereAndBack(t *testing.T) {
	t.Setenv("ROLLCALL_WECOM_CALL_TIMEOUT", "500ms")
	t.Setenv("ROLLCALL_REFRESHER_INTENT_MARGIN", "100ms")
	h := newHouse(t)
	h.keeper()
	h.must(h.db.Facts().PutTenant(t.Context(), roster.Tenant{ID: "acme"}))
	for i := range 3 {
		h.must(h.db.Facts().PutCodes(t.Context(), roster.Code{ID: fmt.Sprint("c-", i), Tenant: "acme", Family: roster.Native, ConfigID: fmt.Sprint("cfg-", i)}))
	}
	for _, args := range [][]string{{"live"}, {"live", "--yes"}, {"shadow"}} {
		out := h.rollcall(true, append([]string{"migrate", args[0], "acne", "--by", "zoe"}, args[1:]...)...)
		wantLines(t, out, "acne", "tenant")
	}
	wantLines(t, h.rollcall(false, "migrate", "live", "acme"), "Tenant acme is in mode live already.")

	out := h.rollcall(false, "migrate", "shadow", "acme", "--by", "ann", "--reason", "a rehearsal")
	wantLines(t, out, "codes given to the refreshers: 3 of 3", "for calls that may be under way", "Rollcall pushes nothing for tenant acme any more; the other system may.")
	job, _, err := h.db.FanOuts().Job(t.Context(), "acme")
	h.must(err)
	if since := time.Since(job.Finished); since < landing {
		t.Errorf("it ended %v after the codes were given to the refreshers; a call may land for %v", since, landing)
	}
	h.wantEvents("tenant_mode", 3)
	wantLines(t, h.rollcall(false, "migrate", "shadow", "acme"), "Tenant acme is in mode shadow already.")

	out = h.rollcall(true, "migrate", "live", "acme", "--by", "bob")
	wantLines(t, out, "switch tenant acme to live", "Not ready, for 3 reasons.", "No list of the other system is known of 3 codes", "--yes")
	out = h.rollcall(false, "migrate", "live", "acme", "--by", "bob", "--yes", "--reason", "nobody minds")
	wantLines(t, out, "codes given to the refreshers: 3 of 3", "Rollcall writes the lists of tenant acme now.")
	h.wantEvents("tenant_mode", 3)
	wantLines(t, h.rollcall(false, "migrate", "live", "acme"), "Tenant acme is in mode live already.")
	book := h.rollcall(false, "decisions")
	wantLines(t, book, "migrate_live", "migrate_shadow", "nobody minds", "a rehearsal")
}

// wantEvents takes a number of events, one a code.
func (h *house) wantEvents(why string, n int) {
	h.t.Helper()
	codes := map[string]bool{}
	for range n {
		event := h.received()
		if !strings.HasSuffix(event, " "+why) {
			h.t.Errorf("a refresher got %q", event)
		}
		codes[event] = true
	}
	if len(codes) != n {
		h.t.Errorf("%d codes were given to the refreshers, want %d", len(codes), n)
	}
}
