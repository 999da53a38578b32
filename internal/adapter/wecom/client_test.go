package wecom_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// A refused token costs one fetch and one repetition, whatever the code.
func TestTokenRefused(t *testing.T) {
	for _, code := range []int{40014, 42001, 41001} {
		b := newBench(t, wecom.TokensOptions{})
		b.stub.next(wecom.OpUpdate, code)
		if err := b.update(t); err != nil {
			t.Errorf("%d: %v", code, err)
		}
		b.wantCalls(t, 2, 2)
	}
}

// A second refusal in a row is not the token's fault. The account is left
// alone, not asked for a third one.
func TestTokenRefusedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{})
		b.stub.next(wecom.OpUpdate, 40014, 40014)
		got := callError(t, b.update(t))
		if got.ErrCode != 40014 || got.Unknown || got.Class != reason.Credentials {
			t.Errorf("got %+v", got)
		}
		b.wantCalls(t, 2, 2)
		for range 3 {
			got = callError(t, b.update(t))
			if got.Class != reason.Credentials || got.Unknown {
				t.Errorf("left alone: %+v", got)
			}
		}
		b.wantCalls(t, 2, 2)
		elapse(time.Until(notBefore(t, got)))
		if err := b.update(t); err != nil {
			t.Errorf("after the delay: %v", err)
		}
		b.wantCalls(t, 3, 3)
	})
}

// The repetition is bound by the deadline as the first attempt is.
func TestTokenRefusedAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{})
		b.stub.next(wecom.OpUpdate, 42001)
		b.stub.before = func(op string) {
			if op == "gettoken" && b.stub.count("gettoken") == 1 {
				elapse(3 * time.Second)
			}
		}
		err := wecom.NewVendor(b.client, wecom.VendorOptions{}).Update(t.Context(), pushCall(time.Now().Add(2*time.Second)))
		if got := callError(t, err); got.Unknown || !errors.Is(err, wecom.ErrTooLate) {
			t.Errorf("got %v", err)
		}
		b.wantCalls(t, 2, 1)
	})
}

// An account that is refused on a call is left alone as on gettoken.
func TestAccountRefusedOnACall(t *testing.T) {
	for _, code := range []int{60020, 48002, 50003, 40001, 40013} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, wecom.TokensOptions{})
			b.stub.next(wecom.OpUpdate, code)
			if got := callError(t, b.update(t)); got.ErrCode != code {
				t.Errorf("got %v", got)
			}
			got := callError(t, b.update(t))
			if got.ErrCode != code || got.Class != reason.Credentials || got.Unknown {
				t.Errorf("left alone: %+v", got)
			}
			b.wantCalls(t, 1, 1)
			elapse(time.Until(notBefore(t, got)))
			if err := b.update(t); err != nil {
				t.Error(err)
			}
			b.wantCalls(t, 1, 2)
		})
	}
}

// Business errors say nothing about token or account.
func TestBusinessErrorChangesNothing(t *testing.T) {
	b := newBench(t, wecom.TokensOptions{})
	for _, code := range []int{45009, 45033, 41044, 40003, -1} {
		b.stub.next(wecom.OpUpdate, code)
		if got := callError(t, b.update(t)); got.ErrCode != code || got.HTTPStatus != 200 || got.Op != wecom.OpUpdate {
			t.Errorf("got %+v", got)
		}
	}
	b.wantCalls(t, 1, 5)
}

// A token that cannot be had leaves the call unsent, whatever became of the
// fetch.
func TestNoToken(t *testing.T) {
	for name, test := range map[string]struct {
		arrange func(*bench)
		class   reason.Reason
	}{
		"no credentials":         {func(b *bench) { b.credentials.err = wecom.ErrNoCredentials }, reason.Credentials},
		"no secret":              {func(b *bench) { b.credentials.secret = "" }, reason.Credentials},
		"no corp":                {func(b *bench) { b.credentials.corpID = "" }, reason.Credentials},
		"the source is down":     {func(b *bench) { b.credentials.err = errStoreDown }, reason.Transient},
		"bad secret":             {func(b *bench) { b.credentials.secret = "other" }, reason.Credentials},
		"system busy":            {func(b *bench) { b.stub.next("gettoken", -1) }, reason.Transient},
		"gettoken says too much": {func(b *bench) { b.stub.next("gettoken", 45009) }, reason.Transient},
		"a token of no time":     {func(b *bench) { b.stub.lifetime = 0 }, reason.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, wecom.TokensOptions{})
			test.arrange(b)
			got := callError(t, b.update(t))
			if got.Unknown || got.Op != wecom.OpGetToken || push.Classify(got) != test.class {
				t.Errorf("got %+v of class %s, want a surely unsent one of class %s", got, push.Classify(got), test.class)
			}
			if n := b.stub.count(wecom.OpUpdate); n != 0 {
				t.Errorf("%d updates sent", n)
			}
		})
	}
}

func (b *bench) update(t *testing.T) error {
	return b.client.UpdateContactWay(t.Context(), tenant, wecom.UpdateContactWayRequest{ConfigID: "c1", User: []string{"amy"}})
}

func (b *bench) wantCalls(t *testing.T, gettoken, update int) {
	t.Helper()
	if g, u := b.stub.count("gettoken"), b.stub.count(wecom.OpUpdate); g != gettoken || u != update {
		t.Errorf("%d gettoken and %d update calls, want %d and %d", g, u, gettoken, update)
	}
}

func pushCall(deadline time.Time) push.Call {
	return push.Call{
		Ref: push.Ref{Tenant: tenant, Code: "code1"}, ConfigID: "c1", Members: []string{"amy"},
		Remark: "r", State: "s", SkipVerify: true, Deadline: deadline,
	}
}
