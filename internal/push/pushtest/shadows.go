package pushtest

import (
	"context"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Shadows is push.Shadows in memory.
type Shadows struct {
	mu    sync.Mutex
	noted map[push.Ref]push.Shadow
}

var _ push.Shadows = (*Shadows)(nil)

// NewShadows returns one without shadows.
func NewShadows() *Shadows { return &Shadows{noted: map[push.Ref]push.Shadow{}} }

// Note keeps the later of two.
func (s *Shadows) Note(_ context.Context, ref push.Ref, shadow push.Shadow) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, there := s.noted[ref]; !there || !shadow.At.Before(last.At) {
		s.noted[ref] = shadow
	}
	return nil
}

// Of returns a code's shadow; the zero Shadow is none.
func (s *Shadows) Of(ref push.Ref) push.Shadow {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noted[ref]
}
