package service

import (
	"context"
	"errors"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget/aimd"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// errConcurrency is WeCom's answer to too many calls in flight (page 90312).
const errConcurrency = 45033

// concurrency finds by trying how many calls of a tenant WeCom takes at once.
// It remembers only tenants that were refused: the others have the ceiling.
type concurrency struct {
	push.Vendor
	ceiling int
	apply   func(tenant string, n int)

	mu     sync.Mutex
	limits map[string]*aimd.Concurrency
}

func newConcurrency(vendor push.Vendor, ceiling int, apply func(tenant string, n int)) *concurrency {
	return &concurrency{Vendor: vendor, ceiling: ceiling, apply: apply, limits: map[string]*aimd.Concurrency{}}
}

// Update makes the call and learns from its answer.
func (c *concurrency) Update(ctx context.Context, call push.Call) error {
	sent := c.limit(call.Tenant)
	err := c.Vendor.Update(ctx, call)
	var failed *push.CallError
	switch {
	case err == nil:
		c.succeeded(call.Tenant)
	case errors.As(err, &failed) && failed.ErrCode == errConcurrency:
		c.refused(call.Tenant, sent)
	}
	return err
}

func (c *concurrency) limit(tenant string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.limits[tenant]; l != nil {
		return l.Limit()
	}
	return c.ceiling
}

func (c *concurrency) refused(tenant string, sent int) {
	c.mu.Lock()
	l := c.limits[tenant]
	if l == nil {
		fresh := aimd.New(c.ceiling)
		l = &fresh
		c.limits[tenant] = l
	}
	l.Refused(sent)
	n := l.Limit()
	c.mu.Unlock()
	c.apply(tenant, n)
}

func (c *concurrency) succeeded(tenant string) {
	c.mu.Lock()
	l := c.limits[tenant]
	if l == nil {
		c.mu.Unlock()
		return
	}
	before := l.Limit()
	l.Succeeded()
	n := l.Limit()
	if n == c.ceiling {
		delete(c.limits, tenant)
	}
	c.mu.Unlock()
	if n != before {
		c.apply(tenant, n)
	}
}
