package fault

import (
	"fmt"
	"slices"
	"time"
)

// Action is what happens instead of the plain answer.
type Action string

const (
	// ErrCode answers with Rule.ErrCode.
	ErrCode Action = "errcode"
	// Status answers with the HTTP status Rule.Status and an empty body.
	Status Action = "status"
	// Timeout never answers: the connection hangs for Rule.Hang, or until the
	// client goes away, and is then cut.
	Timeout Action = "timeout"
	// Reset cuts the connection at once.
	Reset Action = "reset"
)

// Phase says whether the call has its effect all the same.
type Phase string

const (
	// Before is a fault of a call that has no effect.
	Before Phase = "before"
	// After is a fault of a call whose effect is applied, while the client is
	// told otherwise or nothing.
	After Phase = "after"
)

// Rule is one fault and whom it hits. Empty selectors hit everybody.
type Rule struct {
	ID       string        `json:"id"` // given by Script.Add
	API      string        `json:"api,omitempty"`
	Corp     string        `json:"corp,omitempty"`
	ConfigID string        `json:"config_id,omitempty"`
	Member   string        `json:"member,omitempty"` // calls that send this user
	Action   Action        `json:"action"`
	Phase    Phase         `json:"phase"`             // "" is Before
	ErrCode  int           `json:"errcode,omitempty"` // for ErrCode; -1 is "system busy"
	Status   int           `json:"status,omitempty"`  // for Status: 500 to 599
	Hang     time.Duration `json:"-"`                 // for Timeout; 0 is 30 s
	// Skip lets the first so many calls that match pass.
	Skip int `json:"skip,omitempty"`
	// Count is how many calls are hit; 0 is no end.
	Count int `json:"count,omitempty"`
	// Probability hits that share of the matching calls; 0 is all of them.
	Probability float64 `json:"probability,omitempty"`
	Hits        int     `json:"hits"` // how many calls were hit so far
}

// DefaultHang is how long a Timeout lasts when the rule does not say.
const DefaultHang = 30 * time.Second

// Name returns action and phase, e.g. "timeout_after".
func (r Rule) Name() string { return string(r.Action) + "_" + string(r.Phase) }

// Validate reports the first field that makes no sense.
func (r Rule) Validate() error {
	if r.Phase != "" && r.Phase != Before && r.Phase != After {
		return fmt.Errorf("fault: phase %q is neither %q nor %q", r.Phase, Before, After)
	}
	switch r.Action {
	case ErrCode:
		if r.ErrCode == 0 {
			return fmt.Errorf("fault: action %q needs an errcode other than 0", ErrCode)
		}
	case Status:
		if r.Status < 500 || r.Status > 599 {
			return fmt.Errorf("fault: action %q needs a status from 500 to 599, not %d", Status, r.Status)
		}
	case Timeout, Reset:
	default:
		return fmt.Errorf("fault: action %q is none of %q, %q, %q, %q", r.Action, ErrCode, Status, Timeout, Reset)
	}
	if r.Count < 0 || r.Skip < 0 || r.Hang < 0 || r.Probability < 0 || r.Probability > 1 {
		return fmt.Errorf("fault: count, skip and hang must not be negative, probability within 0 and 1")
	}
	return nil
}

// Call is what a rule looks at.
type Call struct {
	API      string
	Corp     string
	ConfigID string
	Members  []string
}

func (r Rule) selects(c Call) bool {
	return (r.API == "" || r.API == c.API) &&
		(r.Corp == "" || r.Corp == c.Corp) &&
		(r.ConfigID == "" || r.ConfigID == c.ConfigID) &&
		(r.Member == "" || slices.Contains(c.Members, r.Member))
}

func (r Rule) spent() bool { return r.Count > 0 && r.Hits >= r.Count }
