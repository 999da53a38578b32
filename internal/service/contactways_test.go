package service

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// The API answers by the registry's errors.
func TestContactWayErrorsInTheRegistrysWords(t *testing.T) {
	for _, tc := range []struct{ from, want error }{
		{contactway.ErrPending, registry.ErrWayPending},
		{push.ErrUnknownCode, registry.ErrUnknownCode},
		{push.ErrWrongTenant, registry.ErrUnknownCode},
		{push.ErrUnknownTenant, registry.ErrUnknownTenant},
	} {
		if got := forRegistry(fmt.Errorf("create: %w", tc.from)); !errors.Is(got, tc.want) {
			t.Errorf("%v becomes %v, want %v", tc.from, got, tc.want)
		}
	}
	for why, field := range map[reason.Reason]string{
		reason.BadMember: "members", reason.NobodyLeft: "members",
		reason.Gone: "config_id", reason.WayTaken: "config_id", reason.WayUnfit: "config_id",
		reason.WayCap: "contact_way", reason.Credentials: "contact_way", reason.UnknownError: "contact_way",
	} {
		err := forRegistry(fmt.Errorf("create: %w", &contactway.RefusedError{Why: why, Detail: "errcode 1"}))
		if got, ok := errors.AsType[*registry.WayError](err); !ok || got.Field != field || got.Detail != "errcode 1" {
			t.Errorf("%s becomes %v, want field %s", why, err, field)
		}
	}
	other := errors.New("connection reset")
	if got := forRegistry(other); !errors.Is(got, other) || forRegistry(nil) != nil {
		t.Errorf("another error becomes %v", got)
	}
}
