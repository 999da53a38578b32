package redisbudget

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// health knows whether Redis answers, and keeps those that would find out the
// hard way from trying: after a failure one ask every retryAfter does.
type health struct {
	retryAfter time.Duration
	log        *slog.Logger
	changed    func(ctx context.Context, now state)

	mu      sync.Mutex
	state   state
	probeAt time.Time
}

// state is on whose pace the instance goes.
type state int64

const (
	onShared state = 0 // the budget in Redis
	onOwn    state = 1 // the instance's share
)

// shared reports whether the shared budget is to be asked at now.
func (h *health) shared(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state == onShared {
		return true
	}
	if now.Before(h.probeAt) {
		return false
	}
	h.probeAt = now.Add(h.retryAfter)
	return true
}

// up notes an answer.
func (h *health) up(ctx context.Context) {
	h.mu.Lock()
	was := h.state
	h.state = onShared
	h.mu.Unlock()
	if was == onOwn {
		h.log.InfoContext(ctx, "vendor budget: Redis answers again, the shared budget takes over")
		h.changed(ctx, onShared)
	}
}

// down notes a failure at now.
func (h *health) down(ctx context.Context, now time.Time, err error) {
	h.mu.Lock()
	was := h.state
	h.state = onOwn
	h.probeAt = now.Add(h.retryAfter)
	h.mu.Unlock()
	if was == onShared {
		h.log.ErrorContext(ctx, "vendor budget: Redis does not answer, pacing by this instance's share alone", "error", err)
		h.changed(ctx, onOwn)
	}
}
