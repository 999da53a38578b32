package metrics

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/callback"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

const (
	nameCallbacks     = "rollcall.callbacks"
	nameCallbackTime  = "rollcall.callback.duration"
	nameAdditions     = "rollcall.additions"
	nameCeilings      = "rollcall.ceilings.reached"
	nameOverCeiling   = "rollcall.ceilings.passed"
	nameFanOuts       = "rollcall.fan_outs"
	nameFanOutReasons = "rollcall.fan_outs.requested"
	nameFanOutCodes   = "rollcall.fan_outs.released"
)

var (
	callbackFates = []string{
		string(callback.Verified), string(callback.Taken), string(callback.Ignored), string(callback.Unknown),
		string(callback.Forged), string(callback.Misdirect), string(callback.Stale), string(callback.TooLarge),
		string(callback.Malformed), string(callback.Crowded), string(callback.Failed), string(callback.BadMethod), Other,
	}
	judgements = []string{
		string(quota.Counted), string(quota.Merged), string(quota.Repeated), string(quota.Ended), string(quota.NoCode), Other,
	}
	ceilings   = []reason.Reason{reason.AtCompanyLimit, reason.AtDailyLimit, reason.AtAddLimit}
	fanOutEnds = []string{
		string(fanout.Finished), string(fanout.Superseded), string(fanout.Failed), string(fanout.Stopped), Other,
	}
	fanOutReasons = []reason.Reason{reason.RemovedToday, reason.Resigned, reason.Quarantined, reason.StaffChanged, reason.TenantChanged}
)

// counting are about callbacks, additions and fan-outs.
func counting() []Instrument {
	return []Instrument{
		{
			Name: nameCallbacks, Prometheus: "rollcall_callbacks_total", Kind: Counter, Unit: "{callback}",
			Labels: []Label{{"fate", callbackFates}},
			What:   "Callbacks by what became of them. Everything but verified, taken and ignored is refused, and WeCom sends it again.",
			Action: "failed: MongoDB, or the broker and the dirty set, did not take what follows; after three attempts WeCom gives up and the addition is lost, so look at /readyz at once. crowded: one tenant floods its lane. forged or misdirect in numbers: a wrong token, or somebody tries. stale: the clock is wrong, or somebody replays.",
		},
		{
			Name: nameCallbackTime, Prometheus: "rollcall_callback_duration_seconds", Kind: Histogram, Unit: "s",
			Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
			What:    "From the first byte of a callback to its answer.",
			Action:  "WeCom waits 5 s. Above 1 s: MongoDB or the broker is slow, or too few instances.",
		},
		{
			Name: nameAdditions, Prometheus: "rollcall_additions_total", Kind: Counter, Unit: "{event}",
			Labels: []Label{{"judgement", judgements}},
			What:   "Events of customers by what they were: an addition (counted), the other half of one (merged), one heard before (repeated), the end of a contact (ended), or through none of the tenant's codes (no_code).",
			Action: "no_code in numbers: codes are missing here, or their state is not what WeCom has. repeated in numbers: answers come late; see rollcall.callback.duration.",
		},
		{
			Name: nameCeilings, Prometheus: "rollcall_ceilings_reached_total", Kind: Counter, Unit: "{addition}",
			Labels: []Label{label("reason", nil, ceilings)},
			What:   "Additions at or over a ceiling of the staff member, by the ceiling.",
			Action: "Nothing by itself.",
		},
		{
			Name: nameOverCeiling, Prometheus: "rollcall_ceilings_passed_total", Kind: Counter, Unit: "{addition}",
			Labels: []Label{label("reason", nil, ceilings)},
			What:   "Additions beyond a ceiling: customers who reached a member although his ceiling said no.",
			Action: "A few for native codes in a burst are WeCom's pick before the new list got there; see rollcall.refresh.freshness. Many: codes are held or dirty. For codes that are drawn it should stay at zero.",
		},
		{
			Name: nameFanOutReasons, Prometheus: "rollcall_fan_outs_requested_total", Kind: Counter, Unit: "{request}",
			Labels: []Label{label("reason", nil, fanOutReasons)},
			What:   "Fan-outs requested by what this process was told, by the cause.",
			Action: "Nothing by itself.",
		},
		{
			Name: nameFanOuts, Prometheus: "rollcall_fan_outs_total", Kind: Counter, Unit: "{run}",
			Labels: []Label{{"end", fanOutEnds}},
			What:   "Runs of fan-outs by how they ended. What failed or stopped is continued by another run.",
			Action: "failed again and again: the broker or MongoDB is away; `rollcall fanouts` shows what waits.",
		},
		{
			Name: nameFanOutCodes, Prometheus: "rollcall_fan_outs_released_total", Kind: Counter, Unit: "{code}",
			What:   "Codes that fan-outs gave to the refreshers.",
			Action: "Nothing by itself.",
		},
	}
}

// Quota records what is told of customers and staff, and what follows. Its
// methods are safe for concurrent use and neither block nor fail.
type Quota struct {
	callbacks    counter
	callbackTime histogram
	additions    counter
	reached      counter
	passed       counter
	requested    counter
	fanOuts      counter
	released     counter
}

var (
	_ callback.Observer = (*Quota)(nil)
	_ quota.Observer    = (*Quota)(nil)
	_ fanout.Observer   = (*Quota)(nil)
)

// NewQuota makes the instruments of the catalog.
func NewQuota(meter metric.Meter) (*Quota, error) {
	b := builder{meter: meter}
	q := &Quota{
		callbacks:    b.counter(nameCallbacks),
		callbackTime: b.histogram(nameCallbackTime),
		additions:    b.counter(nameAdditions),
		reached:      b.counter(nameCeilings),
		passed:       b.counter(nameOverCeiling),
		requested:    b.counter(nameFanOutReasons),
		fanOuts:      b.counter(nameFanOuts),
		released:     b.counter(nameFanOutCodes),
	}
	if b.err != nil {
		return nil, fmt.Errorf("creating the metrics of callbacks and fan-outs: %w", b.err)
	}
	return q, nil
}

// Answered records a callback.
func (q *Quota) Answered(ctx context.Context, fate callback.Fate, took time.Duration) {
	q.callbacks.add(ctx, string(fate), "")
	q.callbackTime.record(ctx, took, "", "")
}

// Judged records what an event was.
func (q *Quota) Judged(ctx context.Context, judgement quota.Judgement) {
	q.additions.add(ctx, string(judgement), "")
}

// Reached records an addition at a ceiling, or beyond it.
func (q *Quota) Reached(ctx context.Context, _ quota.Counting, ceiling quota.Ceiling) {
	q.reached.add(ctx, ceiling.Kind.String(), "")
	if ceiling.Over() > 0 {
		q.passed.add(ctx, ceiling.Kind.String(), "")
	}
}

// Fell records a fan-out that was requested.
func (q *Quota) Fell(ctx context.Context, cause reason.Reason) {
	q.requested.add(ctx, cause.String(), "")
}

// Released records codes given to the refreshers.
func (q *Quota) Released(ctx context.Context, _ fanout.Job, codes int) {
	q.released.addMany(ctx, codes, "")
}

// Ended records how a run of a fan-out ended.
func (q *Quota) Ended(ctx context.Context, _ fanout.Job, end fanout.End) {
	q.fanOuts.add(ctx, string(end), "")
}
