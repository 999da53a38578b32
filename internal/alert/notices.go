package alert

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// errFrequency and errConcurrency are WeCom's answers to too many calls in a
// window and too many at once (page 90312).
const (
	errFrequency   = 45009
	errConcurrency = 45033
)

// Throttled is the alert for WeCom's answer to a call of an API that there are
// too many: 45009, Kind Blocked, or 45033, Kind Throttled. until is when the
// tenant may call again.
func Throttled(tenant, api string, errcode int, until time.Time) Alert {
	if errcode == errConcurrency {
		return Alert{
			Kind: reason.Throttled, Tenant: tenant, Subject: strconv.Itoa(errConcurrency),
			Text: Markdown("WeCom refuses calls: too many at once (45033)",
				"tenant", tenant, "API", api, "next call", instant(until),
				"look at", "other software that calls with the same corp. Rollcall lowers this tenant's calls in flight by itself; only if this repeats for an hour, lower ROLLCALL_REFRESHER_TENANT_IN_FLIGHT."),
		}
	}
	return Alert{
		Kind: reason.Blocked, Tenant: tenant, Subject: strconv.Itoa(errcode),
		Text: Markdown(fmt.Sprintf("WeCom blocks an API: too many calls (%d)", errcode),
			"tenant", tenant, "API", api, "blocked until", instant(until),
			"look at", "other software that calls with the same corp or from the same address, which shares the limit; then ROLLCALL_BUDGET_*. Until then this tenant's codes wait with reason blocked, and nothing is lost."),
	}
}

// Throttles reports whether an error code is one that Throttled is about.
func Throttles(errcode int) bool { return errcode == errFrequency || errcode == errConcurrency }

// Suspended is the alert for a tenant whose credentials WeCom refuses. detail
// is the refusal, without a secret.
func Suspended(tenant, detail string) Alert {
	return Alert{
		Kind: reason.Suspended, Tenant: tenant,
		Text: Markdown("A tenant is suspended: WeCom refuses its credentials",
			"tenant", tenant, "answer", detail,
			"look at", "the app's secret, its trusted IPs and whether it is enabled. All codes of the tenant wait until one probe succeeds."),
	}
}

// Quarantined is the alert for a member whom WeCom refuses: every list of the
// tenant goes without him for a while.
func Quarantined(tenant, staff, detail string) Alert {
	return Alert{
		Kind: reason.Quarantined, Tenant: tenant,
		Text: Markdown("A member is quarantined: WeCom refuses him",
			"tenant", tenant, "member", staff, "answer", detail,
			"look at", "whether he is activated, verified, has customer contact and is visible to the app."),
	}
}

// IntentsOpen is the alert for a code whose record keeps many pushes without a
// known outcome; at most of them it takes no more.
func IntentsOpen(ref push.Ref, open, most int) Alert {
	return Alert{
		Kind: reason.Unsettled, Tenant: ref.Tenant, Subject: ref.Code,
		Text: Markdown("Pushes of a code stay without a known outcome",
			"tenant", ref.Tenant, "code", ref.Code, "open", fmt.Sprintf("%d of %d", open, most),
			"look at", "the network between Rollcall and WeCom: calls are sent and their answers do not come back."),
	}
}

// RedisDown is the alert for a Redis that does not answer: every instance paces
// itself by its own share.
func RedisDown(detail string) Alert {
	return Alert{
		Kind: reason.StoreDown,
		Text: Markdown("Redis does not answer",
			"cause", detail,
			"look at", "Redis. Until then each instance paces itself by its own share of the budget, and codes with a landing page wait."),
	}
}

// NotificationsHeld is the alert for a tenant whose pool of notifications for a
// day, as YYYYMMDD, is used up: its people are not told of what happens.
func NotificationsHeld(tenant, day string, pool int) Alert {
	return Alert{
		Kind: reason.PoolExhausted, Tenant: tenant,
		Text: Markdown("Notifications of a tenant are held: its daily pool is used up",
			"tenant", tenant, "day", day, "pool", strconv.Itoa(pool),
			"look at", "`rollcall deliveries list --state held`. They go on at the tenant's next midnight, or when its daily pool is made larger."),
	}
}

func instant(at time.Time) string {
	if at.IsZero() {
		return "not known"
	}
	return at.UTC().Format("2006-01-02 15:04:05 UTC")
}

// Markdown is a message in the form of all that Rollcall writes to a group: a
// title, and lines of name and value. Values are made plain: none marks up,
// mentions or ends a line, and each is cut to 300 bytes.
func Markdown(title string, lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Rollcall: %s**", title)
	for i := 0; i+1 < len(lines); i += 2 {
		fmt.Fprintf(&b, "\n> %s: %s", lines[i], plain(lines[i+1]))
	}
	return b.String()
}
