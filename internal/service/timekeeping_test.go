package service

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/pkg/refresh/refreshtest"
)

func TestACodeWhoseTimeHasComeBecomesAnEventThatSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sdk refreshtest.Publisher
		due := []backstop.Entry{{Ref: push.Ref{Tenant: "acme", Code: "c1"}, Reason: reason.TimeChange, Due: time.Now()}}
		if errs := (publisher{&sdk}).Publish(t.Context(), due); errs[0] != nil {
			t.Fatal(errs[0])
		}
		want := []refresh.Event{{Tenant: "acme", Code: "c1", Reason: "time", OccurredAt: time.Now()}}
		if diff := cmp.Diff(want, sdk.Events()); diff != "" {
			t.Errorf("published (-want +got):\n%s", diff)
		}
	})
}
