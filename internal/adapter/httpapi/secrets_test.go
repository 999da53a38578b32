package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/httpapi"
)

// Secrets go in and do not come out: not in answers, not in problems, not in
// the log.
func TestSecretsStayIn(t *testing.T) {
	const secret, key = "hunter2-hunter2-hunter2", "hunter2MrqhunterTKduznJYO1A37W2oEgpkMUvkttR"
	r := newRig(t)
	var seen strings.Builder
	for _, send := range []call{
		put(acme+"/credentials", `{"corp_id":"ww1","secret":"`+secret+`"}`),
		put(acme+"/callback", `{"token":"`+secret+`","aes_key":"`+key+`","receive_ids":["ww1"]}`),
		put(acme+"/notifications", `{"webhook":{"url":"https://example.com/hook/`+secret+`","secret":"`+secret+`"},"robot":{"key":"`+secret+`"}}`),
		get(acme + "/credentials"), get(acme + "/callback"), get(acme + "/notifications"),
	} {
		seen.Write(r.want(t, send, 200).body)
	}
	for _, send := range []call{
		put(acme+"/credentials", `{"corp_id":"","secret":"`+secret+`"}`),
		put(acme+"/credentials", `{"corp_id":"ww1","secret":"`+strings.Repeat(secret, 20)+`"}`),
		put(acme+"/callback", `{"token":"`+strings.Repeat(secret, 20)+`","aes_key":"`+key+`","receive_ids":["ww1"]}`),
		put(acme+"/callback", `{"token":"t","aes_key":"`+key+secret+`","receive_ids":["ww1"]}`),
		put(acme+"/notifications", `{"webhook":{"url":"http://`+secret+`.com","secret":"`+secret+`"}}`),
		put(acme+"/notifications", `{"robot":{"key":"`+strings.Repeat(secret, 20)+`"}}`),
	} {
		seen.Write([]byte(r.wantProblem(t, send, 422, "invalid_fact").Detail))
	}
	r.secrets.err = errAway
	for _, send := range []call{put(acme+"/credentials", `{"corp_id":"ww1","secret":"`+secret+`"}`), get(acme + "/notifications")} {
		seen.Write(r.want(t, send, 503).body)
	}
	if strings.Contains(seen.String(), "hunter2") {
		t.Errorf("a secret is shown: %s", seen.String())
	}
}

func TestWhatIsShownOfSecrets(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/credentials", "/callback", "/notifications"} {
		if got := string(r.want(t, get(acme+path), 200).body); strings.Contains(got, `"set":true`) {
			t.Errorf("%s without any: %s", path, got)
		}
	}
	r.want(t, put(acme+"/credentials", `{"corp_id":"ww1","secret":"s"}`), 200)
	r.want(t, put(acme+"/notifications", `{"webhook":{"url":"https://example.com:8443/hook?x=1","secret":"sixteen-bytes-or-more"},"kinds":["resigned"]}`), 200)
	got := into[map[string]any](t, r.want(t, get(acme+"/credentials"), 200))
	want := map[string]any{"corp_id": "ww1", "secret": map[string]any{"set": true, "sealed_by": "2026a"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("credentials (-want +got):\n%s", diff)
	}
	got = into[map[string]any](t, r.want(t, get(acme+"/notifications"), 200))
	want = map[string]any{
		"webhook": map[string]any{"set": true, "origin": "https://example.com:8443"}, "robot": map[string]any{"set": false},
		"daily_pool": 200.0, "kinds": []any{"resigned"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
}

func TestSecretsWithoutAKeyToSealThem(t *testing.T) {
	r := newRig(t)
	r.secrets.err = httpapi.ErrNoSealingKey
	p := r.wantProblem(t, put(acme+"/credentials", `{"corp_id":"ww1","secret":"s"}`), 503, "unavailable")
	if !strings.Contains(p.Detail, "ROLLCALL_SEAL_KEYS") {
		t.Errorf("%+v", p)
	}
}

// While the old credentials were refused nothing was pushed: with new ones every
// code is recomputed. A repeat does what could not be done.
func TestNewCredentialsHaveTheTenantRecomputed(t *testing.T) {
	r := newRig(t)
	write := put(acme+"/credentials", `{"corp_id":"ww1","secret":"s"}`)
	r.fanOuts.err = errAway
	if p := r.wantProblem(t, write, 503, "unannounced"); !p.Stored {
		t.Errorf("%+v", p)
	}
	r.fanOuts.err = nil
	r.want(t, write, 200)
	if want := []string{"acme credentials_changed"}; !slices.Equal(r.fanOuts.requested, want) {
		t.Errorf("requested %q, want %q", r.fanOuts.requested, want)
	}
}
