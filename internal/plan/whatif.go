package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// WhatIf is another world to set beside the present one. The zero value is the
// present.
type WhatIf struct {
	Additions float64 // times as many; 0: as they are
	Codes     float64 // times as many codes, of the same people
	Quota     float64 // times what WeCom allows
	Ceilings  float64 // times the daily ceilings, of a place and of a person
	Slow      float64 // share of the codes that is in the slow lane; less than 0: as they are
}

// Present changes nothing.
func Present() WhatIf { return WhatIf{Additions: 1, Codes: 1, Quota: 1, Ceilings: 1, Slow: -1} }

// Most that a what-if may multiply by.
const maxFactor = 100

// ParseWhatIf reads "additions=x3,slow=50%". The error says what would be right.
func ParseWhatIf(text string) (WhatIf, error) {
	w := Present()
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		factor := map[string]*float64{"additions": &w.Additions, "codes": &w.Codes, "quota": &w.Quota, "ceilings": &w.Ceilings}[name]
		var err error
		switch {
		case name == "slow":
			w.Slow, err = ParseShare(value)
		case factor != nil:
			*factor, err = parseFactor(value)
		default:
			err = fmt.Errorf("%q is nothing that can be changed; want additions, codes, quota, ceilings or slow", name)
		}
		if err != nil {
			return WhatIf{}, fmt.Errorf("what if %s: %w", strings.TrimSpace(part), err)
		}
	}
	return w, nil
}

func parseFactor(text string) (float64, error) {
	factor, err := strconv.ParseFloat(strings.TrimPrefix(text, "x"), 64)
	if err != nil || !strings.HasPrefix(text, "x") || !(factor > 0 && factor <= maxFactor) {
		return 0, fmt.Errorf("%q is not how many times as much; want x0.01 to x%d", text, maxFactor)
	}
	return factor, nil
}

// ParseShare reads a percentage, "30%", as a share of 0 to 1.
func ParseShare(text string) (float64, error) {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !strings.HasSuffix(text, "%") || !(percent >= 0 && percent <= 100) {
		return 0, fmt.Errorf("%q is no share; want 0%% to 100%%", text)
	}
	return percent / 100, nil
}

// Applied is the input as it would be.
func (w WhatIf) Applied(in Input) Input {
	if w.Additions != 1 {
		in.Campaign.Additions = w.Additions * float64(in.Campaign.additions(&in.Company))
	}
	if w.Codes != 1 {
		if in.Campaign.Additions < 0 { // the same customers, over more codes
			in.Campaign.Additions = float64(in.Campaign.additions(&in.Company))
		}
		in.Company.Codes = timesCodes(in.Company.Codes, w.Codes)
	}
	in.Budget = w.Budget(in.Budget)
	if w.Ceilings != 1 {
		in.Company.DailyTotal = timesLimit(in.Company.DailyTotal, w.Ceilings)
		in.Company.Codes = withCeilings(in.Company.Codes, w.Ceilings)
	}
	if w.Slow >= 0 {
		in.Company.Codes = withSlow(in.Company.Codes, w.Slow, in.SlowInterval)
	}
	return in
}

// Budget is what WeCom would allow.
func (w WhatIf) Budget(b Budget) Budget {
	if w.Quota == 1 {
		return b
	}
	return b.times(w.Quota)
}

func timesLimit(limit int, factor float64) int {
	if limit == 0 {
		return 0
	}
	return max(1, int(float64(limit)*factor+0.5))
}

// timesCodes repeats the codes, or leaves out some, evenly.
func timesCodes(codes []Code, factor float64) []Code {
	n := int(float64(len(codes))*factor + 0.5)
	out := make([]Code, 0, n)
	for i := range n {
		code := codes[i*len(codes)/n]
		code.ID = fmt.Sprintf("%s+%d", code.ID, i)
		out = append(out, code)
	}
	return out
}

func withCeilings(codes []Code, factor float64) []Code {
	out := slices.Clone(codes)
	for i := range out {
		out[i].Seats = slices.Clone(out[i].Seats)
		for j := range out[i].Seats {
			out[i].Seats[j].DailyLimit = timesLimit(out[i].Seats[j].DailyLimit, factor)
		}
	}
	return out
}

// withSlow puts a share of the codes in the slow lane, evenly.
func withSlow(codes []Code, share float64, interval time.Duration) []Code {
	out := slices.Clone(codes)
	for i := range out {
		out[i].Interval = 0
		if int(float64(i+1)*share) > int(float64(i)*share) {
			out[i].Interval = interval
		}
	}
	return out
}
