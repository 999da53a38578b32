package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

func TestADirtyCodeBecomesAnEventThatSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sdk refreshtest.Publisher
		errs := publisher{&sdk}.Publish(t.Context(), dirtyEntries("c1"))
		want := []refresh.Event{{Tenant: "acme", Code: "c1", Reason: "dirty:overflow", OccurredAt: time.Now()}}
		if diff := cmp.Diff(want, sdk.Events()); diff != "" || len(errs) != 1 || errs[0] != nil {
			t.Errorf("errors %v, published (-want +got):\n%s", errs, diff)
		}
	})
}

// Each error is that of its own entry, and only one that the SDK refuses for
// what it is counts as unpublishable.
func TestErrorsOfAPublishAreToldApart(t *testing.T) {
	var sdk refreshtest.Publisher
	away := errors.New("broker away")
	sdk.FailWith(func(e refresh.Event) error {
		if e.Code == "c3" {
			return away
		}
		return nil
	})
	errs := publisher{&sdk}.Publish(t.Context(), dirtyEntries("c1", "a bad name", "c3", "c4"))
	var got []string
	for _, err := range errs {
		got = append(got, fmt.Sprint(err != nil, errors.Is(err, backstop.ErrUnpublishable), errors.Is(err, away)))
	}
	want := []string{"false false false", "true true false", "true false true", "false false false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failed, unpublishable, broker away (-want +got):\n%s", diff)
	}
}

// The broker takes a second for an answer: a hundred codes take a second, not a
// hundred.
func TestCodesArePublishedSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		errs := publisher{&distant{wait: time.Second}}.Publish(t.Context(), dirtyEntries(make([]string, 100)...))
		if took := time.Since(begun); took != time.Second || errors.Join(errs...) != nil {
			t.Errorf("took %v, %v; want a second", took, errors.Join(errs...))
		}
	})
}

// A keeper that has to stop does not wait for a broker that is away.
func TestAPublishEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		errs := publisher{&distant{wait: time.Minute}}.Publish(ctx, dirtyEntries("c1", "c2"))
		if took := time.Since(begun); took != time.Second {
			t.Errorf("took %v after its context had ended after a second", took)
		}
		for i, err := range errs {
			if !errors.Is(err, errNoAnswer) {
				t.Errorf("code %d without an answer: %v", i, err)
			}
		}
		<-time.After(time.Minute) // the late answers find nobody and block nobody
	})
}

func dirtyEntries(codes ...string) []backstop.Entry {
	entries := make([]backstop.Entry, len(codes))
	for i, code := range codes {
		entries[i] = backstop.Entry{Ref: push.Ref{Tenant: "acme", Code: code}, Reason: reason.Overflow}
	}
	return entries
}

// distant is a broker that stores everything and answers late.
type distant struct {
	wait    time.Duration
	waiting sync.WaitGroup
}

func (d *distant) Publish(context.Context, refresh.Event) error { return nil }

func (d *distant) PublishAsync(_ context.Context, _ refresh.Event, done func(error)) {
	d.waiting.Go(func() {
		<-time.After(d.wait)
		done(nil)
	})
}

func (d *distant) Flush(context.Context) error {
	d.waiting.Wait()
	return nil
}
