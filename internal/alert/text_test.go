package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var until = time.Date(2026, 11, 30, 9, 1, 0, 0, time.FixedZone("CST", 8*3600))

// Every kind of alert: what it is merged by, and the words a person needs.
func TestEveryNoticeSaysWhatAndWhere(t *testing.T) {
	ref := push.Ref{Tenant: "acme", Code: "c1"}
	for _, tc := range []struct {
		got   Alert
		want  key
		words []string
	}{
		{Throttled("acme", "update_contact_way", 45009, until), key{reason.Blocked, "acme", "45009"}, []string{"acme", "update_contact_way", "45009", "2026-11-30 01:01:00 UTC", "ROLLCALL_BUDGET_"}},
		{Throttled("acme", "update_contact_way", 45033, until), key{reason.Throttled, "acme", "45033"}, []string{"acme", "update_contact_way", "45033", "2026-11-30 01:01:00 UTC", "ROLLCALL_REFRESHER_TENANT_IN_FLIGHT"}},
		{Suspended("acme", "errcode 40001"), key{reason.Suspended, "acme", ""}, []string{"acme", "errcode 40001", "secret"}},
		{Quarantined("acme", "ann", "errcode 60111"), key{reason.Quarantined, "acme", ""}, []string{"acme", "ann", "errcode 60111"}},
		{IntentsOpen(ref, 24, 32), key{reason.Unsettled, "acme", "c1"}, []string{"acme", "c1", "24 of 32"}},
		{NotificationsHeld("acme", "20261130", 200), key{reason.PoolExhausted, "acme", ""}, []string{"acme", "20261130", "200", "rollcall deliveries list --state held"}},
		{RedisDown("connection refused"), key{reason.StoreDown, "", ""}, []string{"Redis", "connection refused"}},
	} {
		if got := tc.got.key(); got != tc.want {
			t.Errorf("merged by %v; want %v", got, tc.want)
		}
		for _, word := range append(tc.words, "**Rollcall: ", "look at: ") {
			if !strings.Contains(tc.got.Text, word) {
				t.Errorf("no %q in %s", word, tc.got.Text)
			}
		}
	}
}

// Both throttle answers are one trouble each: neither hides the other.
func TestAThrottleOfOneSortDoesNotHideTheOther(t *testing.T) {
	if Throttled("acme", "a", 45009, until).key() == Throttled("acme", "a", 45033, until).key() {
		t.Error("45009 and 45033 are merged")
	}
	for code, want := range map[int]bool{45009: true, 45033: true, 45035: false, 0: false, -1: false} {
		if Throttles(code) != want {
			t.Errorf("Throttles(%d) = %v", code, !want)
		}
	}
}

// What comes from elsewhere can neither mark up nor mention nor end a line.
func TestQuotedTextIsPlain(t *testing.T) {
	for in, want := range map[string]string{
		"acme":             "acme",
		"a\nb\tc":          "a b c",
		"<@all> [x](y) `z": "'@all' 'x'(y) 'z",
		"\xff":             "?",
		"租户":               "租户",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q; want %q", in, got, want)
		}
	}
	if got := plain(strings.Repeat("x", 1000)); len(got) != maxPlain {
		t.Errorf("%d bytes of a long text; want %d", len(got), maxPlain)
	}
}

func TestShortenKeepsCharactersWhole(t *testing.T) {
	for _, tc := range []struct {
		text string
		most int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 4, "abcd"},
		{"abcdef", 5, "ab…"},
		{"多多多", 8, "多…"},
		{"多多多", 9, "多多多"},
	} {
		if got := shorten(tc.text, tc.most); got != tc.want || len(got) > tc.most {
			t.Errorf("shorten(%q, %d) = %q", tc.text, tc.most, got)
		}
	}
}

func TestOnlySoManyAreNamed(t *testing.T) {
	batch := []notice{{Alert: Alert{Text: "x"}}}
	for i := range 30 {
		batch = append(batch, notice{Alert: Alert{Tenant: fmt.Sprint("t", i)}})
	}
	got := render(batch, 0)
	if diff := cmp.Diff(true, strings.Contains(got, "for 30 more: t0, ") && strings.HasSuffix(got, "t19, …")); diff != "" {
		t.Errorf("%s", got)
	}
}
