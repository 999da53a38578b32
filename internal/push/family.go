package push

import (
	"sync"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// maxFamilyHints bounds the memory of familyHints: about 10 MiB.
const maxFamilyHints = 100_000

// familyHints remembers which codes have a rotation set. The set's version has
// to be read before the facts, and only the facts say whether there is a set:
// a code without a hint costs one more read, and a wrong hint nothing else.
type familyHints struct {
	mu       sync.RWMutex
	rotating map[string]struct{}
}

func (h *familyHints) rotates(code string) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	_, ok := h.rotating[code]
	return ok
}

func (h *familyHints) note(code roster.Code) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !code.Family.Rotates() {
		delete(h.rotating, code.ID)
		return
	}
	if h.rotating == nil || len(h.rotating) >= maxFamilyHints {
		h.rotating = make(map[string]struct{})
	}
	h.rotating[code.ID] = struct{}{}
}
