package httpapi_test

import (
	"bytes"
	"strings"
	"testing"
)

func keyed(c call, key string) call {
	c.key = key
	return c
}

func TestARepeatGetsTheSameAnswer(t *testing.T) {
	r := newRig(t)
	create := keyed(put(acme+"/codes/new", `{"config_id":"cfg","family":"native"}`), "k")
	first := r.want(t, create, 201)
	if first.header.Get("Idempotent-Replayed") != "" {
		t.Error("the first answer calls itself a repeat")
	}
	r.want(t, del(acme+"/codes/new"), 200)
	again := r.want(t, create, 201)
	if !bytes.Equal(first.body, again.body) || again.header.Get("Location") != first.header.Get("Location") || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%v %s, at first %v %s", again.header, again.body, first.header, first.body)
	}
	if len(r.events.sent) != 2 {
		t.Errorf("published %q", r.events.sent)
	}
}

func TestAKeyIsOfOneRequest(t *testing.T) {
	write := keyed(put(acme, `{"daily_total":5}`), "k")
	for name, other := range map[string]call{
		"another body": keyed(put(acme, `{"daily_total":6}`), "k"),
		"another path": keyed(put(acme+"/staff/a", `{"daily_total":5}`), "k"),
		"a deletion":   keyed(del(acme+"/codes/c-1"), "k"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.want(t, write, 200)
			r.wantProblem(t, other, 422, "key_reused")
			if len(r.events.sent)+len(r.fanOuts.requested) != 1 {
				t.Errorf("announced %q %q", r.events.sent, r.fanOuts.requested)
			}
		})
	}
}

// The tenants of tokens have keys of their own.
func TestKeysOfTenantsAreApart(t *testing.T) {
	r := newRig(t)
	a, b := keyed(put(acme, `{"daily_total":5}`), "k"), keyed(put("/v1/tenants/globex", `{"daily_total":6}`), "k")
	a.token, b.token = acmeOnly, globexOnly
	r.want(t, a, 200)
	r.want(t, b, 200)
}

func TestTwoRequestsWithOneKeyAtOnce(t *testing.T) {
	r := newRig(t)
	write := keyed(put(acme+"/codes/c-1/switches", `{"add_limit":true}`), "k")
	r.events.before = func() {
		r.events.before = nil
		got := r.do(t, write)
		if p := into[problem](t, got); got.status != 409 || p.Code != "request_in_progress" || got.header.Get("Retry-After") == "" {
			t.Errorf("the second answers %d %s", got.status, got.body)
		}
	}
	r.want(t, write, 200)
}

// A problem is not kept: the repeat does the work.
func TestProblemsAreNotKept(t *testing.T) {
	r := newRig(t)
	write := keyed(put(acme+"/codes/c-1/switches", `{"add_limit":true}`), "k")
	r.events.err = errAway
	r.wantProblem(t, write, 503, "unannounced")
	r.events.err = nil
	r.want(t, write, 200)
	if len(r.events.sent) != 1 {
		t.Errorf("published %q", r.events.sent)
	}
}

func TestKeysThatAreNone(t *testing.T) {
	for _, key := range []string{strings.Repeat("k", 129), "two words", "schlüssel"} {
		p := newRig(t).wantProblem(t, keyed(put(acme, `{}`), key), 400, "malformed")
		if p.Field != "Idempotency-Key" {
			t.Errorf("%q: %+v", key, p)
		}
	}
	newRig(t).want(t, keyed(get(acme), "k"), 200)
}
