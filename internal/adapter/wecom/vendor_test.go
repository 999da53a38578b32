package wecom_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestVendorUpdate(t *testing.T) {
	b := newBench(t, wecom.TokensOptions{})
	if err := wecom.NewVendor(b.client, wecom.VendorOptions{}).Update(t.Context(), pushCall(time.Now().Add(time.Minute))); err != nil {
		t.Fatal(err)
	}
	want := `{"config_id":"c1","remark":"r","skip_verify":true,"state":"s","user":["amy"],"party":[]}`
	if diff := cmp.Diff(want, b.stub.last(t).Body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// A call may be sent until its deadline; its answer is waited for a little
// longer, and no longer.
func TestVendorDeadline(t *testing.T) {
	for _, test := range []struct {
		name    string
		begins  time.Duration // from the deadline
		answers time.Duration // after it was sent
		sent    bool
		unknown bool
		fails   bool
	}{
		{name: "in time", begins: -2 * time.Second, answers: time.Second, sent: true},
		{name: "the answer comes within the grace", begins: -time.Second, answers: 5 * time.Second, sent: true},
		{name: "the answer comes after the grace", begins: -time.Second, answers: 7 * time.Second, sent: true, unknown: true, fails: true},
		{name: "at the deadline", begins: 0, sent: true},
		{name: "after the deadline", begins: time.Nanosecond, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				endpoint := newEndpoint(t, wecom.EndpointOptions{HTTP: &http.Client{Transport: delayed(test.answers)}, Timeout: time.Minute})
				vendor := wecom.NewVendor(wecom.NewClient(endpoint, fixedToken(tokenTag)), wecom.VendorOptions{})
				err := vendor.Update(t.Context(), pushCall(time.Now().Add(-test.begins)))
				if (err != nil) != test.fails {
					t.Fatalf("got %v", err)
				}
				if err != nil {
					got := callError(t, err)
					if got.Unknown != test.unknown || errors.Is(err, wecom.ErrTooLate) == test.sent {
						t.Errorf("got %v; want sent %t, unknown %t", err, test.sent, test.unknown)
					}
				}
			})
		})
	}
}

func TestVendorExists(t *testing.T) {
	for _, test := range []struct {
		name    string
		errcode int
		exists  bool
		fails   bool
	}{
		{name: "known", exists: true},
		{name: "not a known config", errcode: 41044},
		{name: "as seen once on a delete", errcode: 41037},
		{name: "throttled: nobody knows", errcode: 45009, fails: true},
		{name: "busy: nobody knows", errcode: -1, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, wecom.TokensOptions{})
			b.stub.response[wecom.OpGet] = `{"errcode":0,"contact_way":{"config_id":"c1"}}`
			b.stub.next(wecom.OpGet, test.errcode)
			exists, err := wecom.NewVendor(b.client, wecom.VendorOptions{}).Exists(t.Context(), push.Ref{Tenant: tenant}, "c1")
			if exists != test.exists || (err != nil) != test.fails {
				t.Errorf("exists %t, error %v; want %t and an error: %t", exists, err, test.exists, test.fails)
			}
			if err != nil && callError(t, err).Unknown {
				t.Error("a read is unknown")
			}
		})
	}
}

// The gone codes concern the contact way, not what WeCom says of a token.
func TestVendorExistsWithoutToken(t *testing.T) {
	b := newBench(t, wecom.TokensOptions{})
	b.stub.next("gettoken", 41044)
	if exists, err := wecom.NewVendor(b.client, wecom.VendorOptions{}).Exists(t.Context(), push.Ref{Tenant: tenant}, "c1"); exists || err == nil {
		t.Errorf("exists %t, %v", exists, err)
	}
}

// What opens a tenant's breaker and what does not.
func TestBreakerCounts(t *testing.T) {
	for _, test := range []struct {
		name  string
		end   func(*http.Request) (*http.Response, error)
		opens bool
	}{
		{name: "system busy", end: answers200(`{"errcode":-1,"errmsg":"system busy"}`), opens: true},
		{name: "http 502", end: answersStatus(502), opens: true},
		{name: "not WeCom's JSON", end: answers200(`<html>`), opens: true},
		{name: "no connection", end: fails(errors.New("connection refused")), opens: true},
		{name: "time-out", end: fails(context.DeadlineExceeded), opens: true},
		{name: "frequency", end: answers200(`{"errcode":45009}`)},
		{name: "bad member", end: answers200(`{"errcode":40003}`)},
		{name: "gone", end: answers200(`{"errcode":41044}`)},
		{name: "credentials", end: answers200(`{"errcode":40001}`)},
		{name: "a code nobody knows", end: answers200(`{"errcode":99999}`)},
		{name: "http 404", end: answersStatus(404)},
		{name: "the caller gave up", end: fails(context.Canceled)},
		{name: "too late", end: fails(wecom.ErrTooLate)},
	} {
		t.Run(test.name, func(t *testing.T) {
			vendor := newVendor(t, test.end, wecom.VendorOptions{})
			for range 30 {
				if vendor.Update(t.Context(), pushCall(noDeadline)) == nil {
					t.Fatal("no error")
				}
			}
			if ok, _ := vendor.Allow(tenant); ok == test.opens {
				t.Errorf("allowed: %t", ok)
			}
		})
	}
}

func TestBreakerOfATenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := fails(errors.New("reset"))
		vendor := newVendor(t, func(r *http.Request) (*http.Response, error) { return end(r) }, wecom.VendorOptions{})
		for i := range 5 {
			if ok, _ := vendor.Allow(tenant); !ok {
				t.Fatalf("open after %d failures", i)
			}
			_ = vendor.Update(t.Context(), pushCall(noDeadline))
		}

		got := callError(t, vendor.Update(t.Context(), pushCall(noDeadline)))
		ok, until := vendor.Allow(tenant)
		if ok || got.Class != reason.BreakerOpen || got.Unknown {
			t.Errorf("allowed %t, %+v", ok, got)
		}
		if want := time.Now().Add(10 * time.Second); !until.Equal(want) || !notBefore(t, got).Equal(want) {
			t.Errorf("until %v and %v, want %v", until, notBefore(t, got), want)
		}
		if ok, until := vendor.Allow("another"); !ok || !until.IsZero() {
			t.Error("another tenant is held")
		}

		elapse(10*time.Second + time.Millisecond)
		if ok, _ := vendor.Allow(tenant); !ok {
			t.Error("no probe when its time has come")
		}
		_ = vendor.Update(t.Context(), pushCall(noDeadline))
		if ok, _ := vendor.Allow(tenant); ok {
			t.Error("closed although the probe failed")
		}

		elapse(11 * time.Second)
		end = answers200(`{"errcode":45009}`)
		_ = vendor.Update(t.Context(), pushCall(noDeadline))
		if ok, _ := vendor.Allow(tenant); !ok {
			t.Error("open although the probe was answered")
		}
	})
}

// While the probe is under way the others wait; asking takes no probe's place.
func TestBreakerProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := fails(errors.New("reset"))
		vendor := newVendor(t, func(r *http.Request) (*http.Response, error) { return end(r) }, wecom.VendorOptions{})
		for range 5 {
			_ = vendor.Update(t.Context(), pushCall(noDeadline))
		}
		elapse(11 * time.Second)
		end = delayed(time.Second)
		for range 3 {
			if ok, _ := vendor.Allow(tenant); !ok {
				t.Error("asking took the probe's place")
			}
		}
		var probing sync.WaitGroup
		probing.Go(func() {
			if err := vendor.Update(t.Context(), pushCall(noDeadline)); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		got := callError(t, vendor.Update(t.Context(), pushCall(noDeadline)))
		ok, until := vendor.Allow(tenant)
		if want := time.Now().Add(time.Second); ok || !until.Equal(want) || !notBefore(t, got).Equal(want) {
			t.Errorf("allowed %t, until %v, want %v", ok, until, want)
		}
		probing.Wait()
		if ok, _ := vendor.Allow(tenant); !ok {
			t.Error("open after the probe")
		}
	})
}

// What says nothing of WeCom neither ends a run of failures nor closes a
// breaker.
func TestBreakerIgnoresOurOwnFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := fails(errors.New("reset"))
		vendor := newVendor(t, func(r *http.Request) (*http.Response, error) { return end(r) }, wecom.VendorOptions{})
		for range 4 {
			_ = vendor.Update(t.Context(), pushCall(noDeadline))
		}
		end = fails(context.Canceled)
		_ = vendor.Update(t.Context(), pushCall(noDeadline))
		end = fails(errors.New("reset"))
		_ = vendor.Update(t.Context(), pushCall(noDeadline))
		if ok, _ := vendor.Allow(tenant); ok {
			t.Fatal("closed after 5 failures with a canceled call among them")
		}

		elapse(11 * time.Second)
		end = fails(context.Canceled)
		_ = vendor.Update(t.Context(), pushCall(noDeadline))
		if ok, _ := vendor.Allow(tenant); !ok {
			t.Error("a canceled probe keeps its place")
		}
		end = fails(errors.New("reset"))
		_ = vendor.Update(t.Context(), pushCall(noDeadline))
		if ok, _ := vendor.Allow(tenant); ok {
			t.Error("a canceled probe closed the breaker")
		}
	})
}

// Reads count as well, though their outcome is never unknown.
func TestBreakerCountsReads(t *testing.T) {
	vendor := newVendor(t, answers200(`{"errcode":-1,"errmsg":"system busy"}`), wecom.VendorOptions{})
	for range 5 {
		_, _ = vendor.Exists(t.Context(), push.Ref{Tenant: tenant}, "c1")
	}
	if ok, _ := vendor.Allow(tenant); ok {
		t.Error("closed after 5 busy answers")
	}
}

// A tenant's probe that the vendor's breaker refuses can be made later.
func TestBreakersAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := fails(errors.New("reset"))
		vendor := newVendor(t, func(r *http.Request) (*http.Response, error) { return end(r) }, wecom.VendorOptions{})
		update := func(name string) error {
			call := pushCall(noDeadline)
			call.Tenant = name
			return vendor.Update(t.Context(), call)
		}
		for range 5 {
			_ = update(tenant)
		}
		elapse(8 * time.Second)
		for _, user := range many(20) {
			_ = update(user)
		}
		elapse(6 * time.Second)
		if got := callError(t, update(tenant)); got.Class != reason.BreakerOpen {
			t.Fatalf("got %+v", got)
		}
		elapse(6 * time.Second)
		end = answers200(`{"errcode":0,"errmsg":"ok"}`)
		if err := update(tenant); err != nil {
			t.Errorf("the probe's place is lost: %v", err)
		}
	})
}

// Many tenants' failures are the vendor's: all are held, those without a
// failure too.
func TestBreakerOfTheVendor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := fails(errors.New("reset"))
		vendor := newVendor(t, func(r *http.Request) (*http.Response, error) { return end(r) }, wecom.VendorOptions{})
		update := func(name string) error {
			call := pushCall(noDeadline)
			call.Tenant = name
			return vendor.Update(t.Context(), call)
		}
		for _, user := range many(19) {
			_ = update(user)
		}
		if ok, _ := vendor.Allow("calm"); !ok {
			t.Fatal("open after 19 failures")
		}
		_ = update("the twentieth")
		if ok, until := vendor.Allow("calm"); ok || !until.Equal(time.Now().Add(10*time.Second)) {
			t.Errorf("allowed %t until %v", ok, until)
		}
		if got := callError(t, update("calm")); got.Class != reason.BreakerOpen {
			t.Errorf("got %+v", got)
		}

		elapse(11 * time.Second)
		end = answers200(`{"errcode":0,"errmsg":"ok"}`)
		for range 3 {
			if err := update("calm"); err != nil {
				t.Error(err)
			}
		}
		if ok, _ := vendor.Allow("calm"); !ok {
			t.Error("open after three probes")
		}
	})
}

// A share of failures below a half is a bad tenant, or bad luck.
func TestBreakerOfTheVendorNeedsHalf(t *testing.T) {
	var failing bool
	vendor := newVendor(t, func(r *http.Request) (*http.Response, error) {
		if failing {
			return fails(errors.New("reset"))(r)
		}
		return answers200(`{"errcode":0}`)(r)
	}, wecom.VendorOptions{})
	for i, user := range many(100) {
		failing = i%3 == 2
		call := pushCall(noDeadline)
		call.Tenant = user
		_ = vendor.Update(t.Context(), call)
	}
	if ok, _ := vendor.Allow("calm"); !ok {
		t.Error("open with a third of failures")
	}
}

// A breaker evicted by the bound starts anew.
func TestBreakerBound(t *testing.T) {
	vendor := newVendor(t, fails(errors.New("reset")), wecom.VendorOptions{MaxTenants: 2})
	for range 5 {
		_ = vendor.Update(t.Context(), pushCall(noDeadline))
	}
	if ok, _ := vendor.Allow(tenant); ok {
		t.Fatal("closed after 5 failures")
	}
	vendor.Allow("b")
	vendor.Allow("c")
	if ok, _ := vendor.Allow(tenant); !ok {
		t.Error("still known beyond the bound")
	}
}

// A call that panics leaves the breakers usable.
func TestBreakerSurvivesAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := fails(errors.New("reset"))
		vendor := newVendor(t, func(r *http.Request) (*http.Response, error) { return end(r) }, wecom.VendorOptions{})
		for range 5 {
			_ = vendor.Update(t.Context(), pushCall(noDeadline))
		}
		elapse(11 * time.Second)
		end = func(*http.Request) (*http.Response, error) { panic("a bug") }
		func() {
			defer func() { _ = recover() }()
			_ = vendor.Update(t.Context(), pushCall(noDeadline))
		}()
		if ok, _ := vendor.Allow(tenant); !ok {
			t.Error("the probe's place is lost")
		}
	})
}
