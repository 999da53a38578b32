package wecom

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/recent"
)

// codeTooOften says that an API was called too often and is blocked (page
// 90454).
const codeTooOften = 45009

// WaysOptions tunes Ways. Zero values take the default.
type WaysOptions struct {
	// PerSecond and Burst are the pace at which one tenant's contact ways are
	// made by this process; default 2 and 100.
	PerSecond float64
	Burst     int
	// Wait is how long a call may wait for its turn; one whose turn comes later
	// is refused as throttled. Default 2 s.
	Wait time.Duration
	// Block is how long no call is made after WeCom said that there were too
	// many; default 1 min, as long as WeCom blocks the API.
	Block time.Duration
	// MaxTenants bounds the tenants whose pace is remembered; default 65 536.
	MaxTenants int
}

func (o WaysOptions) withDefaults() WaysOptions {
	o.PerSecond = orDefault(o.PerSecond, 2)
	o.Burst = orDefault(o.Burst, 100)
	o.Wait = orDefault(o.Wait, 2*time.Second)
	o.Block = orDefault(o.Block, time.Minute)
	o.MaxTenants = orDefault(o.MaxTenants, 1<<16)
	return o
}

// Ways is contactway.Vendor over a Vendor: its tokens, its breakers and its
// errors. Making contact ways is paced for each tenant, as that API has limits
// of its own. It is safe for concurrent use.
type Ways struct {
	vendor  *Vendor
	options WaysOptions

	mu    sync.Mutex
	paces *recent.Map[string, *wayPace]
}

// wayPace is one tenant's.
type wayPace struct {
	limiter *rate.Limiter
	blocked time.Time // no call before it; guarded by Ways.mu
}

var _ contactway.Vendor = (*Ways)(nil)

// NewWays returns the contact ways behind a Vendor's breakers.
func NewWays(vendor *Vendor, options WaysOptions) *Ways {
	options = options.withDefaults()
	return &Ways{vendor: vendor, options: options, paces: recent.NewMap[string, *wayPace](options.MaxTenants)}
}

// Add makes a contact way that is shown as a QR code. A call whose turn does
// not come in time is not made; its error is of class reason.Throttled.
func (w *Ways) Add(ctx context.Context, tenant string, order contactway.Order) (contactway.Way, error) {
	if err := w.turn(ctx, tenant, order.SendBy); err != nil {
		return contactway.Way{}, err
	}
	var made AddContactWayResponse
	err := w.vendor.guard(ctx, tenant, OpAdd, func() (err error) {
		made, err = w.vendor.client.AddContactWay(ctx, tenant, AddContactWayRequest{
			Type:       Type(order.Kind),
			Scene:      QRCode,
			Remark:     order.Remark,
			State:      order.State,
			SkipVerify: order.SkipVerify,
			User:       order.Users,
			SendBy:     order.SendBy,
		})
		return err
	})
	if err != nil {
		w.heed(tenant, err)
		return contactway.Way{}, err
	}
	return contactway.Way{ConfigID: made.ConfigID, QRCode: made.QRCode}, nil
}

// Get returns a contact way; false when WeCom says that there is none.
func (w *Ways) Get(ctx context.Context, tenant, configID string) (contactway.Way, bool, error) {
	return w.vendor.ContactWay(ctx, tenant, configID)
}

// Delete removes a contact way. One that WeCom does not know is removed.
func (w *Ways) Delete(ctx context.Context, tenant, configID string) error {
	err := w.vendor.guard(ctx, tenant, OpDelete, func() error {
		return w.vendor.client.DelContactWay(ctx, tenant, configID)
	})
	if w.vendor.gone(err, OpDelete) {
		return nil
	}
	return err
}

// List yields the config IDs of the contact ways that were made within a
// window, in whole seconds, rounded outwards. It reads all pages before the
// first ID: a caller makes calls of his own between two IDs, and a breaker that
// is half open lets one through at a time.
func (w *Ways) List(ctx context.Context, tenant string, made contactway.Window) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var ids []string
		err := w.vendor.guard(ctx, tenant, OpList, func() error {
			request := listRequestOf(made)
			for id, err := range w.vendor.client.ListContactWays(ctx, tenant, request) {
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return nil
		})
		if err != nil {
			yield("", err)
			return
		}
		for _, id := range ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// turn waits until the tenant's next contact way may be made, if that is soon.
func (w *Ways) turn(ctx context.Context, tenant string, sendBy time.Time) error {
	limiter, blocked := w.paceOf(tenant)
	now := time.Now()
	if now.Before(blocked) {
		return throttledUntil(blocked)
	}
	place := limiter.ReserveN(now, 1)
	wait := place.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	if at := now.Add(wait); wait > w.options.Wait || (!sendBy.IsZero() && at.After(sendBy)) {
		place.CancelAt(now)
		return throttledUntil(at)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		place.Cancel()
		return &push.CallError{Op: OpAdd, Err: ctx.Err()}
	}
}

func throttledUntil(at time.Time) error {
	return &push.CallError{
		Op: OpAdd, Class: reason.Throttled,
		Err: &NotBeforeError{Until: at, Reason: reason.Throttled},
	}
}

// heed stops a tenant's calls for a while when WeCom says that there were too
// many.
func (w *Ways) heed(tenant string, err error) {
	call, ok := errors.AsType[*push.CallError](err)
	if !ok || call.Op != OpAdd || call.ErrCode != codeTooOften {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at(tenant).blocked = time.Now().Add(w.options.Block)
}

func (w *Ways) paceOf(tenant string) (*rate.Limiter, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pace := w.at(tenant)
	return pace.limiter, pace.blocked
}

func (w *Ways) at(tenant string) *wayPace {
	return w.paces.GetOrPut(tenant, func() *wayPace {
		return &wayPace{limiter: rate.NewLimiter(rate.Limit(w.options.PerSecond), w.options.Burst)}
	})
}
