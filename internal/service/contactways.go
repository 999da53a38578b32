package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/landing"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// ContactWaysEvery is how often a keeper calls ContactWays.Sweep.
const ContactWaysEvery = 5 * time.Second

// waysMargin is how long after the end of a call at WeCom its effect is looked
// for, beside the longest call: a listing may lag, and clocks differ.
const waysMargin = 25 * time.Second

// ContactWaysParts are what contact ways are made with. All are required; they
// stay the caller's to close.
type ContactWaysParts struct {
	DB        *mongostore.Database
	Vendor    *wecom.Vendor
	Announcer contactway.Announcer // publish.Publisher
	Meter     metric.Meter
	Log       *slog.Logger
}

// ContactWays makes contact ways for the API, the landing page and the keeper.
// It starts nothing and holds nothing that has to be closed.
type ContactWays struct{ maker *contactway.Maker }

var (
	_ registry.Ways = (*ContactWays)(nil)
	_ landing.Ways  = (*ContactWays)(nil)
)

// NewContactWays puts the making of contact ways together.
func NewContactWays(cfg config.Config, parts ContactWaysParts) (*ContactWays, error) {
	observer, err := metrics.NewWays(parts.Meter)
	if err != nil {
		return nil, err
	}
	store := parts.DB.Ways()
	return &ContactWays{contactway.NewMaker(contactway.Ports{
		Vendor:    wecom.NewWays(parts.Vendor, wecom.WaysOptions{}),
		Rows:      store,
		Codes:     store,
		Announcer: parts.Announcer,
		Observer:  observer,
	}, contactway.Options{
		Owner:      cfg.Refresher.Instance,
		SendWithin: max(cfg.WeCom.CallTimeout, 5*time.Second),
		Margin:     cfg.WeCom.CallTimeout + waysMargin,
		Step:       max(12*cfg.WeCom.CallTimeout, time.Minute),
		Logger:     parts.Log,
	})}, nil
}

// Create makes the contact way of a code whose facts are stored.
func (c *ContactWays) Create(ctx context.Context, ref push.Ref) error {
	_, _, err := c.maker.Create(ctx, ref)
	return forRegistry(err)
}

// Adopt gives a code a contact way that is at WeCom already.
func (c *ContactWays) Adopt(ctx context.Context, ref push.Ref, configID string) error {
	_, err := c.maker.Adopt(ctx, ref, configID)
	return forRegistry(err)
}

// MemberWay returns the address of the QR code with which a customer adds one
// staff member through a code.
func (c *ContactWays) MemberWay(ctx context.Context, ref push.Ref, staff string) (string, error) {
	return c.maker.MemberWay(ctx, ref, staff)
}

// Sweep goes on with what is unfinished and due, and returns how many were
// finished.
func (c *ContactWays) Sweep(ctx context.Context) (int, error) { return c.maker.Sweep(ctx) }

// forRegistry tells an error in the registry's words.
func forRegistry(err error) error {
	if refusal, ok := errors.AsType[*contactway.RefusedError](err); ok {
		return &registry.WayError{Field: refusedField(refusal.Why), Detail: refusal.Detail}
	}
	for _, same := range []struct{ ours, theirs error }{
		{contactway.ErrPending, registry.ErrWayPending},
		{push.ErrUnknownCode, registry.ErrUnknownCode},
		{push.ErrWrongTenant, registry.ErrUnknownCode},
		{push.ErrUnknownTenant, registry.ErrUnknownTenant},
	} {
		if errors.Is(err, same.ours) {
			return errors.Join(same.theirs, err)
		}
	}
	return err
}

// refusedField is the field of a code that a refusal is about.
func refusedField(why reason.Reason) string {
	switch why {
	case reason.BadMember, reason.NobodyLeft:
		return "members"
	case reason.Gone, reason.WayTaken, reason.WayUnfit:
		return "config_id"
	}
	return "contact_way"
}
