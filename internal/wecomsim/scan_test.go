package wecomsim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestScanMeetsTheListOfTheInstant(t *testing.T) {
	var observed []Scan
	h := newHarness(t, Options{OnScan: func(s Scan) { observed = append(observed, s) }})
	events := h.deliver(nil)
	id := h.add(`{"type":2,"scene":2,"state":"st","user":["u1"]}`)
	scan, err := h.sim.Scan(t.Context(), corpID, id, nil)
	h.must(err)
	want := Scan{At: h.clock.now(), Corp: corpID, ConfigID: id, State: "st", Member: "u1", Customer: scan.Customer, Version: 1}
	if diff := cmp.Diff(want, scan); diff != "" {
		t.Errorf("scan (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Scan{scan}, observed); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Scan{scan.Stamped(1)}, slices.Collect(h.sim.ScanLog().All())); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	wantEvent := Event{
		Corp: corpID, Event: "change_external_contact", ChangeType: "add_external_contact", UserID: "u1",
		ExternalUserID: scan.Customer, State: "st", WelcomeCode: "wc" + scan.Customer[2:], CreateTime: h.clock.now(),
	}
	if diff := cmp.Diff([]Event{wantEvent}, events.all()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestScanThatMeetsNobody(t *testing.T) {
	h := newHarness(t, Options{})
	events := h.deliver(nil)
	empty := h.sim.AddWay(corpID, Way{})
	failing := DrawFunc(func(context.Context, Target) (string, error) { return "", errors.New("draw is down") })
	for name, tc := range map[string]struct {
		corp, way string
		draw      Drawer
		want      string
	}{
		"no corp":       {"nobody", empty, nil, "gone"},
		"no way":        {corpID, "gone", nil, "gone"},
		"empty":         {corpID, empty, nil, "empty"},
		"draw fails":    {corpID, empty, failing, "draw is down"},
		"draw, no code": {corpID, "gone", failing, "gone"},
	} {
		scan, err := h.sim.Scan(t.Context(), tc.corp, tc.way, tc.draw)
		if err != nil || scan.Lost != tc.want || scan.Member != "" {
			t.Errorf("%s: lost %q, member %q, %v; want %q", name, scan.Lost, scan.Member, err, tc.want)
		}
	}
	if got := h.sim.Counters(); got.Scans != 5 || got.ScansLost != 5 || len(events.all()) != 0 {
		t.Errorf("counters %+v, events %v", got, events.all())
	}
}

func TestStreamSharesOutNativePicksEvenly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, Options{Now: time.Now})
		id := h.add(`{"type":2,"scene":2,"user":["u1","u2"],"party":[2]}`) // department 2 is u2 again
		st, err := h.sim.StartScans(t.Context(), Scans{Codes: []ScanCode{{Corp: corpID, ConfigID: id}}, Rate: 500, Count: 4000})
		h.must(err)
		<-st.Done()
		met := map[string]int{}
		for scan := range h.sim.ScanLog().All() {
			met[scan.Member]++
		}
		if len(met) != 2 || math.Abs(float64(met["u1"]-2000)) > 150 {
			t.Errorf("met %v, want about 2000 each", met)
		}
	})
}

func TestStreamKeepsRateCountAndWeights(t *testing.T) {
	for name, tc := range map[string]struct {
		zipf    float64
		weights []float64
		want    []float64 // shares
	}{
		"no weights":    {0, []float64{0, 0, 0, 0}, []float64{.25, .25, .25, .25}},
		"weights":       {0, []float64{6, 2, 1, 1}, []float64{.6, .2, .1, .1}},
		"zipf 1":        {1, []float64{0, 0, 0, 0}, []float64{.48, .24, .16, .12}},
		"zipf, weights": {1, []float64{1, 9, 9, 9}, []float64{.48, .24, .16, .12}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, Options{Now: time.Now})
				plan := Scans{Rate: 200, Count: 5000, Zipf: tc.zipf, Seed: 7}
				for _, weight := range tc.weights {
					plan.Codes = append(plan.Codes, ScanCode{Corp: corpID, ConfigID: h.sim.AddWay(corpID, Way{Users: []string{"u1"}}), Weight: weight})
				}
				began := time.Now()
				st, err := h.sim.StartScans(t.Context(), plan)
				h.must(err)
				<-st.Done()
				if took := time.Since(began).Seconds(); took < 23.5 || took > 26.5 {
					t.Errorf("5000 scans at 200 a second took %.1f s", took)
				}
				count := map[string]float64{}
				for scan := range h.sim.ScanLog().All() {
					count[scan.ConfigID] += 1.0 / 5000
				}
				for i, code := range plan.Codes {
					if math.Abs(count[code.ConfigID]-tc.want[i]) > 0.03 {
						t.Errorf("code %d has a share of %.3f, want %.3f", i, count[code.ConfigID], tc.want[i])
					}
				}
			})
		})
	}
}

func TestStreamIsRepeatable(t *testing.T) {
	run := func(seed uint64) (out []string) {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, Options{Now: time.Now})
			for range 5 {
				h.sim.AddWay(corpID, Way{Users: []string{"u1", "u2", "u3"}})
			}
			st, err := h.sim.StartScans(t.Context(), Scans{Corps: []string{corpID}, Rate: 100, Count: 50, Seed: seed})
			h.must(err)
			<-st.Done()
			for s := range h.sim.ScanLog().All() {
				out = append(out, fmt.Sprint(s.At.UnixNano(), s.ConfigID, s.Member, s.Customer))
			}
		})
		return out
	}
	if diff := cmp.Diff(run(1), run(1)); diff != "" {
		t.Errorf("the same seed gives another stream:\n%s", diff)
	}
	if cmp.Equal(run(1), run(2)) {
		t.Error("another seed gives the same stream")
	}
}

func TestDrawnCodesAskTheDraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, Options{Now: time.Now})
		events := h.deliver(nil)
		drawn, native := h.sim.AddWay(corpID, Way{Users: []string{"u1"}, State: "d"}), h.sim.AddWay(corpID, Way{Users: []string{"u1"}})
		var mu sync.Mutex
		asked := map[Target]int{}
		st, err := h.sim.StartScans(t.Context(), Scans{
			Codes: []ScanCode{{Corp: corpID, ConfigID: drawn, Drawn: true}, {Corp: corpID, ConfigID: native}},
			Rate:  100, Count: 200,
			Draw: DrawFunc(func(_ context.Context, target Target) (string, error) {
				<-time.After(time.Minute) // slow: other customers do not wait for it
				mu.Lock()
				defer mu.Unlock()
				asked[target]++
				return "u3", nil
			}),
		})
		h.must(err)
		began := time.Now()
		<-st.Done()
		if took := time.Since(began); took < time.Minute || took > 70*time.Second {
			t.Errorf("took %v: draws waited for each other", took)
		}
		met := map[string]int{}
		for _, e := range events.all() {
			met[e.UserID]++
		}
		if len(asked) != 1 || asked[Target{corpID, drawn, "d"}] != met["u3"] || met["u3"]+met["u1"] != 200 || met["u1"] == 0 {
			t.Errorf("asked %v, met %v", asked, met)
		}
	})
}

func TestWhatFollowsAScan(t *testing.T) {
	for name, tc := range map[string]struct {
		after After
		want  map[string][2]int // change type: least and most events of 1000 scans
	}{
		"an addition each":         {After{}, map[string][2]int{AddExternalContact: {1000, 1000}}},
		"after a delay":            {After{Delay: Latency{P50: time.Hour}}, map[string][2]int{AddExternalContact: {1000, 1000}}},
		"some do not add":          {After{AddShare: 0.3}, map[string][2]int{AddExternalContact: {240, 360}}},
		"half additions announced": {After{HalfShare: 0.5}, map[string][2]int{AddExternalContact: {1000, 1000}, AddHalfExternalContact: {440, 560}}},
		"events get lost":          {After{LossShare: 0.4}, map[string][2]int{AddExternalContact: {540, 660}}},
		"all lost":                 {After{LossShare: 1}, map[string][2]int{}},
		"events come twice":        {After{DuplicateShare: 0.2}, map[string][2]int{AddExternalContact: {1140, 1260}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, Options{Now: time.Now})
				events := h.deliver(nil)
				h.sim.AddWay(corpID, Way{Users: []string{"u1"}})
				st, err := h.sim.StartScans(t.Context(), Scans{Corps: []string{corpID}, Rate: 1000, Count: 1000, After: tc.after})
				h.must(err)
				began := time.Now()
				<-st.Done()
				if tc.after.Delay.P50 > 0 && time.Since(began) < time.Hour {
					t.Errorf("callbacks came after %v", time.Since(began))
				}
				got := map[string]int{}
				for _, e := range events.all() {
					got[e.ChangeType]++
				}
				if len(got) != len(tc.want) {
					t.Errorf("events %v, want kinds %v", got, tc.want)
				}
				for change, bounds := range tc.want {
					if got[change] < bounds[0] || got[change] > bounds[1] {
						t.Errorf("%d of %s, want %v", got[change], change, bounds)
					}
				}
				c := h.sim.Counters()
				if c.Events != c.Delivered+c.Dropped || int(c.Delivered) != len(events.all()) || c.GivenUp != 0 {
					t.Errorf("counters %+v", c)
				}
			})
		})
	}
}

func TestStopEndsArrivalsAndLetsCallbacksFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, Options{Now: time.Now})
		events := h.deliver(nil)
		h.sim.AddWay(corpID, Way{Users: []string{"u1"}})
		st, err := h.sim.StartScans(t.Context(), Scans{Corps: []string{corpID}, Rate: 10, After: After{Delay: Latency{P50: time.Minute}}})
		h.must(err)
		<-time.After(5 * time.Second)
		st.Stop()
		st.Stop()
		came := st.Scans()
		<-st.Done()
		if st.Scans() != came || came < 20 || len(events.all()) != int(came) {
			t.Errorf("%d scans at Stop, %d in the end, %d events", came, st.Scans(), len(events.all()))
		}
		if got, ok := h.sim.Stream(st.ID()); !ok || got != st || len(h.sim.Streams()) != 1 {
			t.Error("the stream is not listed")
		}
	})
}

func TestContextAndResetEndAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, Options{Now: time.Now})
		h.sim.AddWay(corpID, Way{Users: []string{"u1"}})
		plan := Scans{Corps: []string{corpID}, Rate: 10}
		ctx, cancel := context.WithCancel(t.Context())
		byContext, err := h.sim.StartScans(ctx, plan)
		h.must(err)
		byReset, err := h.sim.StartScans(t.Context(), plan)
		h.must(err)
		cancel()
		<-byContext.Done()
		h.sim.Reset()
		<-byReset.Done()
		if len(h.sim.Streams()) != 0 {
			t.Error("streams are left")
		}
	})
}

func TestStartScansRefuses(t *testing.T) {
	h := newHarness(t, Options{})
	codes := []ScanCode{{Corp: corpID, ConfigID: "w"}}
	for name, plan := range map[string]Scans{
		"no codes":          {Rate: 1},
		"corp without ways": {Rate: 1, Corps: []string{corpID}},
		"no rate":           {Codes: codes},
		"rate not a number": {Codes: codes, Rate: math.NaN()},
		"endless rate":      {Codes: codes, Rate: math.Inf(1)},
		"negative count":    {Codes: codes, Rate: 1, Count: -1},
		"negative weight":   {Codes: []ScanCode{{Weight: -1}}, Rate: 1},
		"drawn by nobody":   {Codes: []ScanCode{{Drawn: true}}, Rate: 1},
		"share over 1":      {Codes: codes, Rate: 1, After: After{LossShare: 1.5}},
		"negative delay":    {Codes: codes, Rate: 1, After: After{Delay: Latency{P50: -1}}},
	} {
		if _, err := h.sim.StartScans(t.Context(), plan); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestHTTPDraw(t *testing.T) {
	var asked string
	answer := func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.String() + " " + r.Header.Get("Authorization")
		switch r.URL.Query().Get("s") {
		case "json":
			fmt.Fprint(w, `{"member":"u1","staff":"u2"}`)
		case "text":
			fmt.Fprint(w, " u3\n")
		case "broken":
			fmt.Fprint(w, `{"member":`)
		case "number":
			fmt.Fprint(w, `{"member":1}`)
		case "empty":
			w.WriteHeader(http.StatusOK)
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(answer))
	defer server.Close()
	url := server.URL + "/draw/{corp}/{config_id}?s={state}"
	for _, tc := range []struct {
		state, field, want, wantErr string
	}{
		{"json", "", "u1", ""},
		{"json", "staff", "u2", ""},
		{"json", "other", "", `no string "other"`},
		{"text", "", "u3", ""},
		{"broken", "", "", "read answer"},
		{"number", "", "", "no string"},
		{"empty", "", "", "names nobody"},
		{"a b&c", "", "", "http 418"},
	} {
		draw := HTTPDraw{URL: url, Field: tc.field, Header: map[string]string{"Authorization": "Bearer t"}, Client: server.Client()}
		got, err := draw.Draw(t.Context(), Target{"c/1", "w 1", tc.state})
		if got != tc.want || (err == nil) != (tc.wantErr == "") || (err != nil && !strings.Contains(err.Error(), tc.wantErr)) {
			t.Errorf("%s, field %q: %q, %v", tc.state, tc.field, got, err)
		}
	}
	if want := "POST /draw/c%2F1/w+1?s=a+b%26c Bearer t"; asked != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
	server.Close()
	for _, bad := range []string{server.URL + "?key=hush", "http://[hush"} {
		if _, err := (HTTPDraw{URL: bad, Header: map[string]string{"Authorization": "hush\n"}}).Draw(t.Context(), Target{}); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("error %v", err)
		}
	}
}

// inbox takes events.
type inbox struct {
	mu     sync.Mutex
	events []Event
}

func (i *inbox) all() []Event {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.events)
}

// deliver gives the corp an inbox; answer, when not nil, decides what it says.
func (h *harness) deliver(answer func(context.Context, Event) error) *inbox {
	h.tb.Helper()
	box := &inbox{}
	h.must(h.sim.SetCorp(Corp{ID: corpID, Apps: []App{{Secret: secret}}, Callback: Callback{
		Deliver: func(ctx context.Context, e Event) error {
			if answer != nil {
				if err := answer(ctx, e); err != nil {
					return err
				}
			}
			box.mu.Lock()
			defer box.mu.Unlock()
			box.events = append(box.events, e)
			return nil
		},
	}}))
	return box
}
