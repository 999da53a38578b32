//go:build integration

package observability

// absence says why something may find nothing in a demo in which nothing is
// broken.
type absence struct {
	why string
	// rare things happen on a busy machine; they may be found too.
	rare bool
}

var (
	fast    = absence{why: "every code of the demo is new, and so in the fast lane"}
	unasked = absence{why: "nobody does so in the demo"}
	bug     = absence{why: "it would be a bug"}
	roomy   = absence{why: "no refresher holds as many codes as it may"}
	failure = absence{why: "nothing fails in the demo, but in the moment in which a process is replaced", rare: true}
	mended  = absence{why: "a lost event, or a demo that is slower than the audit's bound", rare: true}
	idle    = absence{why: "there is spare budget unless the storm takes it", rare: true}
)

// emptyPanels are queries of dashboards that may find nothing, by dashboard,
// title and query.
var emptyPanels = map[string]absence{
	"rollcall: And what had to wait its turn? (p95): B":                fast,
	"rollcall: Is a store away?: A":                                    failure,
	"rollcall: Is a store away?: B":                                    failure,
	"rollcall: Are the tenants' people told?: C":                       failure,
	"rollcall: What does the audit find?: A":                           mended,
	"rollcall-budget: How many pushes in each lane?: C":                fast,
	"rollcall-budget: How fresh is each lane? (p95): C":                fast,
	"rollcall-budget: Do the breakers open?: A":                        failure,
	"rollcall-budget: Is there budget to spare for the spot check?: B": idle,
}

// failedReasons are those of dirty codes with something to mend.
const failedReasons = `{reason!~"throttled|blocked|slow_lane|backoff|breaker_open|unsettled|paced|contended|suspended|on_hold|overflow|store_down|handed_back|unpublished`

// emptySelectors are selectors of rules that may find nothing.
var emptySelectors = map[string]absence{
	`rollcall_dirty_codes` + failedReasons + `"}`:                               mended,
	`rollcall_dirty_oldest_seconds` + failedReasons + `|nobody_left"}`:          mended,
	`rollcall_dirty_codes{reason=~"foreign_edit|attributes_differ"}`:            unasked,
	`rollcall_dirty_codes{reason=~"suspended|credentials"}`:                     unasked,
	`rollcall_dead_letters_total`:                                               unasked,
	`rollcall_audit_looks_total{result=~"record_lies|set_missing|set_differs"}`: mended,
	`rollcall_audit_looks_total{result=~"stale|never_pushed"}`:                  mended,
	`rollcall_callbacks_total{fate=~"failed|crowded"}`:                          failure,
	`namespace:rollcall_callbacks_failed:ratio_rate5m`:                          failure,
	`rollcall_draws_total{ending=~"unavailable|no_way"}`:                        failure,
	`rollcall_api_requests_total{status="5xx"}`:                                 failure,
	`rollcall_alerts_total{outcome=~"failed|dropped"}`:                          unasked,
	`rollcall_outcomes_total{outcome="fail",reason="store_down"}`:               failure,
	`rollcall_subscription_looks_total{outcome="failed"}`:                       failure,
	`rollcall_budget_degraded`:                                                  failure,
	`rollcall_parks_total{reason="overflow"}`:                                   roomy,
	`rollcall_outcomes_total{reason="panicked"}`:                                bug,
	`rollcall_api_refusals_total{cause="panicked"}`:                             bug,
}
