package metrics

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/shadow"
)

const (
	nameShadowCompared   = "rollcall.shadow.comparisons"
	nameShadowMismatches = "rollcall.shadow.mismatches"
)

// shadowing are about tenants that move over from another system.
func shadowing() []Instrument {
	return []Instrument{
		{
			Name: nameShadowCompared, Prometheus: "rollcall_shadow_comparisons_total", Kind: Counter, Unit: "{comparison}",
			Labels: []Label{wordsOf("result", shadow.Outcomes())},
			What:   "Comparisons of what Rollcall would have pushed with what another system pushed, for codes in shadow mode, once both sides have settled.",
			Action: "mismatch: `rollcall migrate report TENANT` names the codes and says why. None although codes are in shadow mode: no report arrives, or no keeper works.",
		},
		{
			Name: nameShadowMismatches, Prometheus: "rollcall_shadow_mismatches_total", Kind: Counter, Unit: "{cause}",
			Labels: []Label{{"cause", append(causeNames(), Other)}},
			What:   "Causes of mismatches, each once a comparison, as kind/reason: the other system lists somebody whom Rollcall leaves out for the reason, or lacks somebody whom it lists for it.",
			Action: "docs/shadow.md says what each cause points to. lists/not_a_member and lists/staff_missing: Rollcall's facts are not complete. The others: the systems decide differently, or one of them late.",
		},
	}
}

// causeNames are the kinds of differences with the reasons that each can have,
// which are fewer than all pairs of the two.
func causeNames() []string {
	var names []string
	for _, kind := range shadow.Kinds() {
		for _, why := range shadow.Reasons(kind) {
			names = append(names, shadow.Cause{Kind: kind, Reason: why}.String())
		}
	}
	return names
}

// Shadows records comparisons. It is safe for concurrent use and neither blocks
// nor fails.
type Shadows struct{ compared, mismatches counter }

var _ shadow.Observer = (*Shadows)(nil)

// NewShadows makes the instruments of the catalog.
func NewShadows(meter metric.Meter) (*Shadows, error) {
	b := builder{meter: meter}
	s := &Shadows{compared: b.counter(nameShadowCompared), mismatches: b.counter(nameShadowMismatches)}
	if b.err != nil {
		return nil, fmt.Errorf("creating the metrics of comparisons: %w", b.err)
	}
	return s, nil
}

// Compared records a comparison and the causes of a mismatch.
func (s *Shadows) Compared(ctx context.Context, outcome shadow.Outcome, causes []shadow.Cause) {
	s.compared.add(ctx, string(outcome), "")
	for _, cause := range causes {
		s.mismatches.add(ctx, cause.String(), "")
	}
}
