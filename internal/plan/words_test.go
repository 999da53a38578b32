package plan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func TestRates(t *testing.T) {
	for text, want := range map[string]float64{
		"20000/day": 20_000, "100/hour": 2400, "2/minute": 2880, "50/10m": 7200, "0/day": 0, "1.5/24h": 1.5,
	} {
		if got, err := plan.ParseRate(text, 24*time.Hour); got != want || err != nil {
			t.Errorf("%s in a day: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "20000", "many/day", "-1/day", "5/week", "5/0s", "5/-1h", "NaN/day", "1e12/day"} {
		if _, err := plan.ParseRate(text, time.Hour); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestPeaks(t *testing.T) {
	for text, want := range map[string]plan.Peak{
		"30%@20:00":     {At: 8 * time.Hour, Over: time.Hour, Share: 0.3},
		"30%@12:00/30m": {At: 0, Over: 30 * time.Minute, Share: 0.3},
		"100%@9:00":     {At: 21 * time.Hour, Over: time.Hour, Share: 1},
		"5%@+90s/10s":   {At: 90 * time.Second, Over: 10 * time.Second, Share: 0.05},
	} {
		got, err := plan.ParsePeak(text, noon)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", "30@20:00", "130%@20:00", "30%", "30%@25:00", "30%@20:00/0s", "30%@20:00/soon", "30%@+-5s"} {
		if _, err := plan.ParsePeak(text, noon); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestChanges(t *testing.T) {
	for text, want := range map[string]plan.Change{
		"off@18:00":       {At: 6 * time.Hour, To: roster.OfflineNow},
		"off@18:00/10m":   {At: 6 * time.Hour, Over: 10 * time.Minute, To: roster.OfflineNow},
		"amy,bob:on@9:00": {At: 21 * time.Hour, Who: []string{"amy", "bob"}, To: roster.Online},
		"-amy:off@+0s/2s": {Over: 2 * time.Second, But: []string{"amy"}, To: roster.OfflineNow},
	} {
		got, err := plan.ParseChange(text, noon)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", "gone@18:00", "off", "off@", "amy:away@9:00", "off@18"} {
		if _, err := plan.ParseChange(text, noon); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestWhatIfs(t *testing.T) {
	present := plan.Present()
	want := present
	want.Additions, want.Slow, want.Ceilings = 3, 0.5, 0.5
	got, err := plan.ParseWhatIf("additions=x3, slow=50%,ceilings=x0.5")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"", "additions", "additions=3", "additions=x0", "additions=x101", "staff=x2", "slow=x2", "slow=120%", "quota=xNaN"} {
		if _, err := plan.ParseWhatIf(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
