//go:build integration

package main

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// An operator steps in: what he orders is in the facts, on the topic, explained,
// and in the book.
func TestInterveneOnRealStores(t *testing.T) {
	t.Setenv("ROLLCALL_REDIS_URL", stacktest.RedisURL(t))
	h := newHouse(t)
	t.Setenv("ROLLCALL_REDIS_KEY_PREFIX", h.cfg.MongoDB.Database+":")
	ctx := t.Context()
	h.must(h.db.Facts().PutTenant(ctx, roster.Tenant{ID: "acme"}))
	h.must(h.db.Facts().PutStaff(ctx, "acme", roster.Staff{ID: "amy"}, roster.Staff{ID: "bob"}))
	h.must(h.db.Facts().PutCodes(ctx,
		roster.Code{ID: "code-1", Tenant: "acme", Family: roster.Native, ConfigID: "way-1", Members: []roster.Member{{Staff: "amy"}, {Staff: "bob"}}},
		roster.Code{ID: "code-2", Tenant: "acme", Family: roster.Native, ConfigID: "way-2", Members: []roster.Member{{Staff: "amy"}}},
	))
	why := []string{"--reason", "incident 42", "--by", "ann"}
	order := func(fails bool, words ...string) string { return h.rollcall(fails, append(words, why...)...) }

	wantLines(t, order(false, "hold", "code", "code-1", "--for", "2h"), "hold code acme/code-1:", "the list stays as WeCom has it, until", "recorded as decided by ann")
	wantLines(t, h.rollcall(false, "explain", "code-1"), "on_hold until", "by ann: incident 42")
	wantLines(t, order(true, "suspend", "staff", "acme/amy"), "it would do harm", "nobody else can take a customer on code-2", "--yes")
	wantLines(t, order(false, "suspend", "staff", "acme/amy", "--dry-run"), "would mean", "against it:", "Nothing was done.")
	wantLines(t, order(false, "suspend", "staff", "acme/amy", "--yes"), "he leaves every list, of 2 codes", "under way: rollcall fanouts --tenant acme")
	wantLines(t, h.rollcall(false, "explain", "code-1", "--staff", "amy"), "amy is off the list of acme/code-1: taken_off", "by ann: incident 42")
	wantLines(t, h.rollcall(false, "fanouts", "--tenant", "acme"), "acme", "amy")
	wantLines(t, order(false, "release", "staff", "acme/amy"), "2 codes are recomputed")
	wantLines(t, order(true, "release", "staff", "acme/amy"), "nothing is stopped there")
	wantLines(t, order(false, "release", "code", "acme/code-1"), "1 code is recomputed")
	wantLines(t, h.received(), "code-1 acme/code-1 operator_release")
	wantLines(t, order(false, "lane", "code", "code-1", "fast"), "changes are pushed at once")
	wantLines(t, h.received(), "code-1 acme/code-1 operator_lane")
	wantLines(t, order(false, "refresh", "code", "code-1"), "1 code is recomputed")
	wantLines(t, h.received(), "code-1 acme/code-1 operator_refresh")
	wantLines(t, h.rollcall(false, "decisions"), "hold", "suspend", "release", "lane", "refresh", "incident 42", "ann")

	wantLines(t, order(true, "hold", "code", "code-9"), "hold code code-9: no such code")
	wantLines(t, order(true, "hold", "staff", "acme/amy"), "a staff member is not held; suspend takes him off every list")
	wantLines(t, order(true, "suspend", "staff", "amy"), "want TENANT/STAFF")
	wantLines(t, order(true, "lane", "code", "code-1", "quick"), "want fast, slow or auto")
	wantLines(t, h.rollcall(true, "hold", "code", "code-1"), "say why: --reason TEXT")
}
