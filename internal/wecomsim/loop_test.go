package wecomsim

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/ledger"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

// A bucket of rate r and burst b with b + r·W ≤ N for each window keeps both
// kinds of windows; one with more does not. The ledger's checker agrees with
// the limiter in both cases.
func TestPacedCallerKeepsTheWindows(t *testing.T) {
	windows := []limits.Window{
		{Calls: 100, Length: 10 * time.Second, Block: 5 * time.Second},
		{Calls: 400, Length: 60 * time.Second, Block: 30 * time.Second},
	}
	for name, tc := range map[string]struct {
		burst, rate float64 // per second
		keeps       bool
	}{
		"within both":           {40, 6, true},
		"breaks the longer one": {40, 7, false},
		"breaks the shorter":    {60, 5, false},
	} {
		for _, kind := range []limits.Kind{limits.Sliding, limits.Fixed} {
			t.Run(fmt.Sprintf("%s, %s", name, kind), func(t *testing.T) {
				h := newHarness(t, Options{Limits: &limits.Config{Kind: kind, Corp: windows}})
				h.clock.add(-h.clock.now().Sub(h.clock.now().Truncate(time.Minute))) // to the start of a window
				h.sim.Unblock()
				h.token = h.newToken()
				tokens := tc.burst
				step := 50 * time.Millisecond
				for range int(2 * time.Minute / step) {
					for ; tokens >= 1; tokens-- {
						h.call("list_contact_way", `{}`)
					}
					h.clock.add(step)
					tokens = min(tc.burst, tokens+tc.rate*step.Seconds())
				}
				refused := h.sim.Counters().Of("list_contact_way", 45009)
				over := false
				for _, w := range windows {
					for _, p := range ledger.Peaks(ledger.Query{API: "list_contact_way"}.Select(h.sim.Ledger().All()), ledger.ByCorp, w.Length) {
						over = over || p.Sliding > w.Calls && kind == limits.Sliding || p.Fixed > w.Calls && kind == limits.Fixed
					}
				}
				if (refused == 0) != tc.keeps || over == tc.keeps {
					t.Errorf("%d refused, over a window: %v; keeps: %v", refused, over, tc.keeps)
				}
			})
		}
	}
}

// Writers, faults, customers and callbacks at once, over a clock of its own.
// Afterwards the ledger explains every version of every way, and each customer
// met the list of the version he saw.
func TestLedgerExplainsWhatCustomersMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, Options{Now: time.Now, Limits: &limits.Config{}, Quirks: Quirks{Propagation: 700 * time.Millisecond}})
		h.must(h.sim.SetLatency(Latency{P50: 40 * time.Millisecond, P99: 400 * time.Millisecond}))
		h.deliver(func(_ context.Context, e Event) error {
			if e.ExternalUserID[2] == '0' { // some are answered at the second attempt only, some never
				return fmt.Errorf("customer %s refused", e.ExternalUserID)
			}
			return nil
		})
		for _, rule := range []fault.Rule{
			{API: "update_contact_way", Action: fault.Timeout, Phase: fault.After, Hang: time.Second, Probability: 0.1},
			{API: "update_contact_way", Action: fault.Reset, Probability: 0.1},
			{API: "update_contact_way", Action: fault.Status, Status: 502, Phase: fault.After, Probability: 0.1},
		} {
			_, err := h.sim.AddFault(rule)
			h.must(err)
		}
		lists := newListBook()
		var ids []string
		for range 6 {
			id := h.add(`{"type":2,"scene":2,"user":["u1"]}`)
			lists.put(id, 1, []string{"u1"})
			ids = append(ids, id)
		}
		st, err := h.sim.StartScans(t.Context(), Scans{Corps: []string{corpID}, Rate: 100, Count: 2000, After: After{Delay: Latency{P50: time.Second}}})
		h.must(err)
		var wg sync.WaitGroup
		for writer := range 4 {
			wg.Go(func() { writeAtRandom(h, rand.New(rand.NewPCG(uint64(writer), 4)), ids) })
		}
		wg.Wait()
		<-st.Done()

		for e := range (ledger.Query{API: "update_contact_way"}).Select(h.sim.Ledger().All()) {
			if !e.Applied.IsZero() {
				lists.put(e.ConfigID, e.Version, e.Members)
			}
		}
		scans := 0
		for scan := range h.sim.ScanLog().All() {
			scans++
			if list := lists.get(scan.ConfigID, scan.Version); !slices.Contains(list, scan.Member) {
				t.Fatalf("scan %+v: version %d was %v", scan, scan.Version, list)
			}
		}
		for _, id := range ids {
			w, _ := h.sim.Way(corpID, id)
			if diff := cmp.Diff(lists.get(id, w.Version), w.Users); diff != "" || w.Version != lists.versions(id) {
				t.Errorf("way %s at version %d of %d (-ledger +way):\n%s", id, w.Version, lists.versions(id), diff)
			}
		}
		c := h.sim.Counters()
		if scans != 2000 || c.Events != 2000 || c.Delivered+c.GivenUp != 2000 || c.GivenUp == 0 {
			t.Errorf("%d scans, counters %+v", scans, c)
		}
	})
}

// The whole of it over sockets, for the race detector: a server, a callback
// receiver, writers, customers, and a reader of everything.
func TestEverythingAtOnceOverSockets(t *testing.T) {
	h := newHarness(t, Options{
		Now: time.Now, Limits: &limits.Config{},
		Callbacks: CallbackRules{Timeout: time.Minute}, // a busy machine is no reason to send twice
	})
	codec, err := wecomcrypto.New(callbackToken, callbackKey, corpID)
	h.must(err)
	var mu sync.Mutex
	received := map[string]int{}
	h.serveCallbacks("", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = codec.Open(wecomcrypto.StampOf(r.URL.Query()), body)
		}
		mu.Lock()
		defer mu.Unlock()
		received[fmt.Sprint(err)]++
	})
	var ids []string
	for range 3 {
		ids = append(ids, h.add(`{"type":2,"scene":2,"user":["u1"],"party":[2]}`))
	}
	st, err := h.sim.StartScans(t.Context(), Scans{Corps: []string{corpID}, Rate: 2000, Count: 300})
	h.must(err)
	var wg sync.WaitGroup
	for writer := range 3 {
		wg.Go(func() { writeAtRandom(h, rand.New(rand.NewPCG(uint64(writer), 5)), ids) })
	}
	wg.Go(func() {
		for range 20 {
			h.sim.Counters()
			ledger.Peaks(h.sim.Ledger().All(), ledger.ByIP, time.Second)
			h.must(h.sim.SetStaff(corpID, Staff{UserID: "u2", Departments: []int{2}}))
			h.sim.InvalidateTokens("another")
			for range h.sim.Ways(corpID) {
			}
		}
	})
	wg.Wait()
	wait(t, st.Done(), "the stream")
	if diff := cmp.Diff(map[string]int{"<nil>": 300}, received); diff != "" {
		t.Errorf("callbacks by what was wrong with them (-want +got):\n%s", diff)
	}
}

// writeAtRandom updates ways, whatever becomes of the calls.
func writeAtRandom(h *harness, rng *rand.Rand, ids []string) {
	for range 40 {
		members := `["u1"]`
		if rng.IntN(2) == 0 {
			members = `["u2","u3"]`
		}
		body := fmt.Sprintf(`{"config_id":%q,"user":%s}`, ids[rng.IntN(len(ids))], members)
		_, _ = h.try(h.tb.Context(), http.MethodPost, "/cgi-bin/externalcontact/update_contact_way?access_token="+h.token, body)
	}
}

// listBook knows the list of each version of each way.
type listBook struct {
	lists map[string]map[int64][]string
}

func newListBook() *listBook { return &listBook{lists: map[string]map[int64][]string{}} }

func (b *listBook) put(id string, version int64, list []string) {
	if b.lists[id] == nil {
		b.lists[id] = map[int64][]string{}
	}
	b.lists[id][version] = list
}

func (b *listBook) get(id string, version int64) []string { return b.lists[id][version] }

func (b *listBook) versions(id string) int64 { return int64(len(b.lists[id])) }
