//go:build integration

package redisrotation

import (
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

func realRotation(t testing.TB) (*Rotation, push.Ref) {
	t.Helper()
	o, err := redis.ParseURL(stacktest.RedisURL(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	r, err := New(client, Options{Prefix: "test-" + rand.Text() + ":"})
	if err != nil {
		t.Fatal(err)
	}
	return r, push.Ref{Tenant: "corp", Code: "hot"}
}

// 64 goroutines draw while another refreshes the set again and again: every
// quota is met exactly, nobody is drawn twice in a lap, and no draw meets a set
// that is not there.
func TestQuotasAreExactUnderConcurrency(t *testing.T) {
	r, ref := realRotation(t)
	quota := map[string]int{"a": 500, "b": 1000, "c": 0, "d": 1500, "e": 3000}
	set := push.Set{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		set.Seats = append(set.Seats, roster.Seat{Staff: name, Headroom: quota[name]})
	}
	version, ok, err := r.Replace(t.Context(), ref, 0, set)
	if err != nil || !ok {
		t.Fatalf("replace: %v, %v", ok, err)
	}
	stop := make(chan struct{})
	var refreshes sync.WaitGroup
	refreshes.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			v, ok, err := r.Replace(t.Context(), ref, version, set)
			if err != nil || !ok || v <= version {
				t.Errorf("refresh: version %d after %d, %v, %v", v, version, ok, err)
				return
			}
			version = v
		}
	})
	drawn := drawAll(t, r, ref)
	close(stop)
	refreshes.Wait()

	had := map[string]map[int64]bool{}
	count := map[string]int{}
	for _, d := range drawn {
		if had[d.Staff] == nil {
			had[d.Staff] = map[int64]bool{}
		}
		if had[d.Staff][d.Lap] {
			t.Fatalf("%s was drawn twice in lap %d", d.Staff, d.Lap)
		}
		had[d.Staff][d.Lap] = true
		count[d.Staff]++
	}
	for name, want := range quota {
		if count[name] != want {
			t.Errorf("%s was drawn %d times, want %d", name, count[name], want)
		}
	}
}

// drawAll draws from 64 goroutines until everybody is exhausted.
func drawAll(t *testing.T, r *Rotation, ref push.Ref) []draw.Turn {
	t.Helper()
	var (
		mu    sync.Mutex
		drawn []draw.Turn
		wg    sync.WaitGroup
	)
	for range 64 {
		wg.Go(func() {
			for {
				d, err := r.Draw(t.Context(), ref, "")
				if errors.Is(err, draw.ErrExhausted) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				drawn = append(drawn, d)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return drawn
}

// What a draw costs on one hot code of 100 members: with the trail and without,
// with a key and without, with a company's total and without. redis-us/draw is
// what the server itself says.
func BenchmarkDrawOneHotCode(b *testing.B) {
	set := push.Set{}
	for i := range 100 {
		set.Seats = append(set.Seats, roster.Seat{Staff: string(rune('A'+i/10)) + string(rune('0'+i%10)), Headroom: -1})
	}
	for _, way := range []struct {
		name  string
		trail int
		keyed bool
		total int
	}{
		{"bare", 0, false, 0},
		{"trail", 50, false, 0},
		{"key", 0, true, 0},
		{"trail and key", 50, true, 0},
		{"trail, key and a company's total", 50, true, 1 << 30},
	} {
		b.Run(way.name, func(b *testing.B) {
			r, ref := realRotation(b)
			r.trail = way.trail
			for i := range set.Seats {
				set.Seats[i].Company.Total = way.total
			}
			if _, ok, err := r.Replace(b.Context(), ref, 0, set); err != nil || !ok {
				b.Fatalf("replace: %v, %v", ok, err)
			}
			before := scriptTime(b, r)
			var failed, n atomic.Int64
			b.SetParallelism(32)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					key := ""
					if way.keyed {
						key = strconv.FormatInt(n.Add(1), 10)
					}
					if _, err := r.Draw(b.Context(), ref, key); err != nil {
						failed.Add(1)
					}
				}
			})
			if n := failed.Load(); n > 0 {
				b.Errorf("%d draws failed", n)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "draws/s")
			b.ReportMetric((scriptTime(b, r)-before)/float64(b.N), "redis-us/draw")
		})
	}
}

// scriptTime is how long the server has spent in scripts, in microseconds.
func scriptTime(b *testing.B, r *Rotation) float64 {
	b.Helper()
	info, err := r.client.Info(b.Context(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "cmdstat_evalsha:calls=")
	_, rest, _ = strings.Cut(rest, "usec=")
	text, _, _ := strings.Cut(rest, ",")
	spent, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0 // no script has run yet
	}
	return spent
}
