//go:build integration

package draw_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

// quotas are 40 different ones that add up to about total.
func quotas(total int) []int {
	const members = 40
	out := make([]int, members)
	for i := range out {
		out[i] = total / members * (i + 1) * 2 / (members + 1)
	}
	return out
}

// 64 customers at a time draw one code empty while two refreshers replace its
// set 20 times a second between them, from facts that are always a little
// behind. Some answers are lost and asked for again. Then everybody was drawn
// exactly as often as he may, and once in each lap until then: turn by turn,
// without a gap and without a repetition.
func TestTurnsAndQuotasAreExact(t *testing.T) {
	total := 20_000
	if *full {
		total = 300_000
	}
	h := newHouse(t, quotas(total)...)
	if ok, err := h.refresh(t.Context()); !ok || err != nil {
		t.Fatalf("the first set: %v, %v", ok, err)
	}
	begun := time.Now()
	stopRefreshers, stopCounting := h.refreshers(2, 12), h.counting(30*time.Millisecond)
	turns, repeats := h.drawEmpty()
	took := time.Since(begun)
	won, lost := stopRefreshers()
	stopCounting()

	h.wantExact(turns)
	perSecond := float64(won) / took.Seconds()
	t.Logf("%d draws and %d repeated answers from %d clients in %v (%.0f draws/s); the set was replaced %d times (%.1f a second, %d more lost their race); the desk asked for %d refreshes",
		len(turns), repeats, clients, took.Round(time.Millisecond), float64(len(turns))/took.Seconds(), won, perSecond, lost, h.refreshes.Load())
	if perSecond < 5 { // 20 and more wherever the machine has time for them
		t.Errorf("the set was replaced %.1f times a second: too rarely to show anything", perSecond)
	}
	if reads := h.reads.Load(); reads != 1 {
		t.Errorf("the store was asked %d times, want once, whose the code is", reads)
	}
	// One round trip each, the last ones that found nobody included. A new
	// connection greets the server twice, and the script may have to be sent.
	if trips, asked := h.trips.Load(), int64(len(turns))+repeats+clients; trips < asked || trips > asked+4*clients {
		t.Errorf("%d round trips to Redis for %d requests", trips, asked)
	}
}

// drawEmpty draws until nobody is free. Every second customer sends a key, and
// every tenth of these asks again as if the answer had been lost.
func (h *house) drawEmpty() (turns []drawn, repeats int64) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var again atomic.Int64
	for i := range clients {
		wg.Go(func() {
			var own []drawn
			for n := 0; ; n++ {
				key := ""
				if i%2 == 1 {
					key = fmt.Sprintf("customer-%d-%d", i, n)
				}
				d, free, err := h.draw(h.Context(), key)
				if err != nil {
					h.Error(err)
					return
				}
				if !free {
					break
				}
				own = append(own, d)
				h.truth.add(d.Position)
				if key == "" || n%10 != 0 {
					continue
				}
				again.Add(1)
				if repeated, free, err := h.draw(h.Context(), key); repeated != d || !free || err != nil {
					h.Errorf("the answer to %s again: %+v, %v, %v; it was %+v", key, repeated, free, err, d)
					return
				}
			}
			h.wantForward(own)
			mu.Lock()
			defer mu.Unlock()
			turns = append(turns, own...)
		})
	}
	wg.Wait()
	return turns, again.Load()
}

// wantForward: of the turns that one customer after the other gets, each comes
// after the one before.
func (h *house) wantForward(own []drawn) {
	for i := 1; i < len(own); i++ {
		a, b := own[i-1], own[i]
		if b.Lap < a.Lap || b.Lap == a.Lap && b.Position <= a.Position {
			h.Errorf("turn %+v after %+v", b, a)
			return
		}
	}
}

// wantExact: each member has one turn in each of as many laps as his quota, from
// the first on.
func (h *house) wantExact(turns []drawn) {
	type place struct {
		lap      int64
		position int
	}
	seen := map[place]int{}
	for _, d := range turns {
		if d.Staff != name(d.Position) || d.Round != 0 {
			h.Errorf("turn %+v is of nobody's place", d)
		}
		seen[place{d.Lap, d.Position}]++
	}
	wrong, want := 0, 0
	for position, quota := range h.truth.quotas {
		want += quota
		for lap := range quota {
			if seen[place{int64(lap), position}] != 1 {
				wrong++
			}
		}
	}
	if wrong > 0 || len(turns) != want {
		h.Errorf("%d of %d turns were drawn not at all or twice; %d draws", wrong, want, len(turns))
	}
}

// How many customers one hot code can take, client, server and Redis on the
// same two cores, while its set is replaced 20 times a second: 5 000 by the
// processor time that each takes, whatever else the machine does. The clock is
// judged generously; only a quiet machine shows what it can do.
func TestDrawsASecond(t *testing.T) {
	length, limit, byClock := time.Second, 5_000.0, 200.0
	if *full {
		length = 10 * time.Second
	}
	open := func(h *house, ctx context.Context, _ string) error { return h.visit(ctx) }
	draw := func(h *house, ctx context.Context, key string) error {
		_, free, err := h.draw(ctx, key)
		if err == nil && !free {
			err = fmt.Errorf("nobody free")
		}
		return err
	}
	for _, way := range []struct {
		name  string
		do    func(*house, context.Context, string) error
		keyed bool
	}{
		{"POST /v1/draw/{code}", draw, false},
		{"POST /v1/draw/{code} with an Idempotency-Key", draw, true},
		{"GET /c/{code}", open, false},
	} {
		t.Run(way.name, func(t *testing.T) {
			unlimited := make([]int, 50)
			for i := range unlimited {
				unlimited[i] = -1
			}
			h := newHouse(t, unlimited...)
			if ok, err := h.refresh(t.Context()); !ok || err != nil {
				t.Fatalf("the first set: %v, %v", ok, err)
			}
			stop, before := h.refreshers(1, 20), h.spent()
			took := h.storm(length, func(ctx context.Context, i, n int) error {
				key := ""
				if way.keyed {
					key = fmt.Sprintf("customer-%d-%d", i, n)
				}
				return way.do(h, ctx, key)
			})
			each := h.spent().each(before, max(1, len(took)))
			won, _ := stop()
			rate := float64(len(took)) / length.Seconds()
			t.Logf("%.0f a second from %d clients, p50 %v, p99 %v; each takes %v of the processors here and %v in Redis, so two cores can take %.0f a second; the set was replaced %d times; the store was read %d times",
				rate, clients, quantile(took, 0.5).Round(10*time.Microsecond), quantile(took, 0.99).Round(10*time.Microsecond),
				each.here.Round(time.Microsecond), each.redis.Round(time.Microsecond), each.aSecond(), won, h.reads.Load())
			if rate < byClock || each.aSecond() < limit {
				t.Errorf("%.0f a second by the clock, want %.0f; %.0f by processor time, want %.0f", rate, byClock, each.aSecond(), limit)
			}
		})
	}
}

// storm has all clients ask again and again for a while and returns how long
// each answer took.
func (h *house) storm(length time.Duration, ask func(ctx context.Context, client, n int) error) []time.Duration {
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	end := time.Now().Add(length)
	for i := range clients {
		wg.Go(func() {
			var own []time.Duration
			for n := 0; ; n++ {
				begun := time.Now()
				if begun.After(end) {
					break
				}
				if err := ask(h.Context(), i, n); err != nil {
					h.Error(err)
					break
				}
				own = append(own, time.Since(begun))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	wg.Wait()
	return all
}

// Redis loses the set while everybody draws. No customer is turned away for it,
// one set is made again, and a ceiling is passed only by the draws that were not
// counted when the facts were read again.
func TestASetThatIsLostIsMadeAgain(t *testing.T) {
	h := newHouse(t, quotas(8_000)...)
	if ok, err := h.refresh(t.Context()); !ok || err != nil {
		t.Fatalf("the first set: %v, %v", ok, err)
	}
	stopCounting := h.counting(5 * time.Millisecond)
	var losing sync.Once
	var count atomic.Int64
	turns := make([]atomic.Int64, len(h.truth.quotas))
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for {
				d, free, err := h.draw(h.Context(), "")
				if err != nil {
					h.Error(err)
					return
				}
				if !free {
					return
				}
				member := memberOf(d.Staff)
				h.truth.add(member)
				turns[member].Add(1)
				if count.Add(1) < 4_000 {
					continue
				}
				losing.Do(func() {
					if err := h.rotation.Delete(h.Context(), hot); err != nil {
						h.Error(err)
					}
				})
			}
		})
	}
	wg.Wait()
	stopCounting()
	over := 0
	for i, quota := range h.truth.quotas {
		over += max(0, int(turns[i].Load())-quota)
	}
	t.Logf("%d draws; when the facts were read again, %d customers were not counted yet, and up to %d draws were under way; %d additions beyond the ceilings; the store was read %d times",
		count.Load(), h.truth.behind, clients, over, h.reads.Load())
	if bound := h.truth.behind + clients; over > bound {
		t.Errorf("%d additions beyond the ceilings, want %d at most", over, bound)
	}
	if reads := h.reads.Load(); reads != 2 {
		t.Errorf("the store was read %d times, want twice: whose the code is, and its facts", reads)
	}
}

// The simulator's customers draw through the API.
func TestTheSimulatorDraws(t *testing.T) {
	h := newHouse(t, 1)
	ask := wecomsim.HTTPDraw{
		URL: h.server.URL + "/v1/draw/{state}", Field: "staff", Client: h.client,
		Header: map[string]string{"Authorization": "Bearer " + bearer},
	}
	got, err := ask.Draw(t.Context(), wecomsim.Target{State: hot.Code})
	if got != name(0) || err != nil {
		t.Errorf("drew %q, %v", got, err)
	}
	for name, wrong := range map[string]wecomsim.HTTPDraw{
		"http 409": ask, // the only member is at his ceiling now
		"http 401": {URL: ask.URL, Client: h.client},
	} {
		if _, err := wrong.Draw(t.Context(), wecomsim.Target{State: hot.Code}); err == nil || err.Error() != "draw: "+name {
			t.Errorf("%v, want %s", err, name)
		}
	}
}
