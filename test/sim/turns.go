package sim

import (
	"fmt"
	"slices"

	"github.com/rollcall-dev/rollcall/internal/keyqueue"
)

// turns checks that tenants take turns at one consumer: between two turns of a
// tenant that has a code ready, and workers left, no other has several.
type turns struct {
	waiting map[keyqueue.Key]bool     // codes that became ready by an event
	passed  map[string]map[string]int // by waiting tenant, the turns of each other one since
}

// patience is how many turns of one other tenant a ready tenant may see: one,
// and one that was on its way when it became ready.
const patience = 2

func newTurns() turns {
	return turns{waiting: map[keyqueue.Key]bool{}, passed: map[string]map[string]int{}}
}

func (t *turns) ready(key keyqueue.Key) { t.waiting[key] = true }

// gone forgets a code that was ready.
func (t *turns) gone(key keyqueue.Key) { delete(t.waiting, key) }

// taken notes a turn, and says who has waited for too many.
func (t *turns) taken(key keyqueue.Key, limit int, inWork func(tenant string) int) string {
	delete(t.waiting, key)
	delete(t.passed, key.Tenant)
	over := ""
	for _, waiting := range t.tenants() {
		switch {
		case waiting == key.Tenant:
		case inWork(waiting) >= limit:
			delete(t.passed, waiting)
		default:
			if n := t.pass(waiting, key.Tenant); n > patience {
				over = fmt.Sprintf("%s waits for %d turns of %s", waiting, n, key.Tenant)
			}
		}
	}
	return over
}

// tenants are those that have a code ready.
func (t *turns) tenants() []string {
	var names []string
	for key := range t.waiting {
		if !slices.Contains(names, key.Tenant) {
			names = append(names, key.Tenant)
		}
	}
	slices.Sort(names)
	return names
}

// pass counts a turn that a waiting tenant has seen another one take.
func (t *turns) pass(waiting, other string) int {
	passed := t.passed[waiting]
	if passed == nil {
		passed = map[string]int{}
		t.passed[waiting] = passed
	}
	passed[other]++
	return passed[other]
}
