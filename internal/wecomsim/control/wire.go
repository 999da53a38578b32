package control

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

// span is a duration as people write it: "60s", "1h30m".
type span time.Duration

// MarshalJSON writes the duration as a string.
func (s span) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).String()) }

// UnmarshalJSON reads a duration written as a string.
func (s *span) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf("duration %s: write it as a string, such as \"60s\"", raw)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	*s = span(d)
	return nil
}

type windowWire struct {
	limits.Window
	Length span `json:"length"`
	Block  span `json:"block"`
}

type limitsWire struct {
	limits.Config
	Corp []windowWire `json:"corp"`
	IP   []windowWire `json:"ip"`
}

func wireLimits(c limits.Config) limitsWire {
	return limitsWire{Config: c, Corp: wireWindows(c.Corp), IP: wireWindows(c.IP)}
}

func wireWindows(windows []limits.Window) []windowWire {
	out := make([]windowWire, 0, len(windows))
	for _, w := range windows {
		out = append(out, windowWire{w, span(w.Length), span(w.Block)})
	}
	return out
}

func (w limitsWire) config() limits.Config {
	c := w.Config
	c.Corp, c.IP = plainWindows(w.Corp), plainWindows(w.IP)
	return c
}

func plainWindows(windows []windowWire) (out []limits.Window) {
	for _, w := range windows {
		w.Window.Length, w.Window.Block = time.Duration(w.Length), time.Duration(w.Block)
		out = append(out, w.Window)
	}
	return out
}

type latencyWire struct {
	P50 span `json:"p50"`
	P99 span `json:"p99"`
}

func wireLatency(l wecomsim.Latency) latencyWire { return latencyWire{span(l.P50), span(l.P99)} }

func (w latencyWire) latency() wecomsim.Latency {
	return wecomsim.Latency{P50: time.Duration(w.P50), P99: time.Duration(w.P99)}
}

type quirksWire struct {
	wecomsim.Quirks
	TokenTTL       span `json:"token_ttl"`
	Propagation    span `json:"propagation"`
	BadSecretBlock span `json:"bad_secret_block"`
}

func wireQuirks(q wecomsim.Quirks) quirksWire {
	return quirksWire{q, span(q.TokenTTL), span(q.Propagation), span(q.BadSecretBlock)}
}

func (w quirksWire) quirks() wecomsim.Quirks {
	q := w.Quirks
	q.TokenTTL, q.Propagation = time.Duration(w.TokenTTL), time.Duration(w.Propagation)
	q.BadSecretBlock = time.Duration(w.BadSecretBlock)
	return q
}

type ruleWire struct {
	fault.Rule
	Hang span `json:"hang,omitempty"`
}

func wireRules(rules []fault.Rule) []ruleWire {
	out := make([]ruleWire, 0, len(rules))
	for _, r := range rules {
		out = append(out, ruleWire{r, span(r.Hang)})
	}
	return out
}

func (w ruleWire) rule() fault.Rule {
	r := w.Rule
	r.Hang = time.Duration(w.Hang)
	return r
}

type scansWire struct {
	Codes     []wecomsim.ScanCode `json:"codes"`
	Corps     []string            `json:"corps"`
	Rate      float64             `json:"rate"`
	Zipf      float64             `json:"zipf"`
	Count     int                 `json:"count"`
	Seed      uint64              `json:"seed"`
	Draw      *wecomsim.HTTPDraw  `json:"draw"`
	Delay     latencyWire         `json:"delay"`
	Add       float64             `json:"add_share"`
	Half      float64             `json:"half_share"`
	Loss      float64             `json:"loss_share"`
	Duplicate float64             `json:"duplicate_share"`
}

func (w scansWire) plan() wecomsim.Scans {
	plan := wecomsim.Scans{
		Codes: w.Codes, Corps: w.Corps, Rate: w.Rate, Zipf: w.Zipf, Count: w.Count, Seed: w.Seed,
		After: wecomsim.After{
			Delay: w.Delay.latency(), AddShare: w.Add, HalfShare: w.Half, LossShare: w.Loss, DuplicateShare: w.Duplicate,
		},
	}
	if w.Draw != nil {
		plan.Draw = *w.Draw
	}
	return plan
}

type streamWire struct {
	ID    string `json:"id"`
	Scans uint64 `json:"scans"`
	Ended bool   `json:"ended"`
}

func wireStream(st *wecomsim.Stream) streamWire {
	out := streamWire{ID: st.ID(), Scans: st.Scans()}
	select {
	case <-st.Done():
		out.Ended = true
	default:
	}
	return out
}
