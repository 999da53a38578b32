//go:build integration

package quota

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
)

// end is one way for an ingress to die.
type end struct {
	step  string
	after bool
	nth   int
}

// deaths are all ways to die, before and after each step: those first whose
// step is rare and taken for new additions only, the others in random order.
func deaths(rnd *rand.Rand) []end {
	var rare, common []end
	for _, step := range steps {
		switch step {
		case "mark", "fan-out", "file":
			rare = append(rare, end{step, false, 1}, end{step, true, 1})
		default:
			nth := 1 + rnd.IntN(20)
			common = append(common, end{step, false, nth}, end{step, true, nth})
		}
	}
	rnd.Shuffle(len(common), func(i, j int) { common[i], common[j] = common[j], common[i] })
	return append(rare, common...)
}

// manyDeaths are several rounds of all ways to die.
func manyDeaths(rnd *rand.Rand, rounds int) []end {
	var all []end
	for range rounds {
		all = append(all, deaths(rnd)...)
	}
	return all
}

// killer keeps ingresses running that die, one way after the other.
type killer struct {
	house *house
	wecom *wecom

	mu  sync.Mutex
	due []end
	at  map[string]int // kills by step
}

// lives starts one ingress after the other, each with its way to die, until ctx
// ends. When all ways have had their turn, it starts one that lives.
func (k *killer) lives(ctx context.Context) {
	for ctx.Err() == nil {
		way, deadly := k.take()
		var env []string
		if deadly {
			env = []string{envStep + "=" + way.step, envNth + "=" + strconv.Itoa(way.nth)}
			if way.after {
				env = append(env, envAfter+"=1")
			}
		}
		m, err := k.house.fleet.Start(ctx, "ingress", env...)
		if err != nil {
			if ctx.Err() == nil {
				k.house.Errorf("start an ingress: %v", err)
			}
			return
		}
		k.wecom.joined(m.URL())
		select {
		case <-m.Done():
			k.wecom.left(m.URL())
			k.house.fleet.Bury(m)
			k.died(way)
		case <-ctx.Done():
			k.giveBack(way, deadly)
		}
	}
}

func (k *killer) take() (end, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.due) == 0 {
		return end{}, false
	}
	way := k.due[0]
	k.due = k.due[1:]
	return way, true
}

func (k *killer) giveBack(way end, deadly bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if deadly {
		k.due = append(k.due, way)
	}
}

func (k *killer) died(way end) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == nil {
		k.at = map[string]int{}
	}
	k.at[way.step]++
}

// left is how many ways to die have not had their turn.
func (k *killer) left() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.due)
}

func (k *killer) kills() int {
	sum := 0
	for _, n := range k.at {
		sum += n
	}
	return sum
}

// check finds that every way to die had its turn.
func (k *killer) check() {
	k.house.Helper()
	for _, way := range k.due {
		k.house.Errorf("no ingress died at %s (after: %v)", way.step, way.after)
	}
}
