package notify_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/notify"
)

var (
	hook = notify.Webhook{URL: "https://acme", Secret: secret}
	bot  = notify.Robot{Key: "k3y"}
)

// A tenant's channels, what is filed for it, and what becomes of that.
func TestFiling(t *testing.T) {
	for _, tc := range []struct {
		name     string
		channels notify.Channels
		keys     []string
		rows     map[notify.Via]int
		counts   map[string]int
	}{
		{"one channel", notify.Channels{Webhook: hook}, []string{"a"}, map[notify.Via]int{"webhook": 1}, map[string]int{"at_daily_limit filed": 1, "webhook pending": 1}},
		{"both channels", notify.Channels{Webhook: hook, Robot: bot}, []string{"a", "b"}, map[notify.Via]int{"webhook": 2, "robot": 2}, map[string]int{"at_daily_limit filed": 4, "webhook pending": 2, "robot pending": 2}},
		{"the same again", notify.Channels{Webhook: hook}, []string{"a", "a", "a"}, map[notify.Via]int{"webhook": 1}, map[string]int{"at_daily_limit filed": 1, "at_daily_limit repeated": 2, "webhook pending": 1}},
		{"no channel", notify.Channels{}, []string{"a"}, nil, map[string]int{"at_daily_limit no_channel": 1}},
		{"another kind", notify.Channels{Webhook: hook, Kinds: []notify.Kind{notify.StaffResigned}}, []string{"a"}, nil, map[string]int{"at_daily_limit unwanted": 1}},
		{"its kind", notify.Channels{Robot: bot, Kinds: []notify.Kind{notify.CeilingReachedDay}}, []string{"a"}, map[notify.Via]int{"robot": 1}, map[string]int{"at_daily_limit filed": 1, "robot pending": 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.dir.put("acme", tc.channels)
				r.file("acme", tc.keys...)
				var rows map[notify.Via]int
				for _, row := range r.rows(notify.Selection{}) {
					if rows == nil {
						rows = map[notify.Via]int{}
					}
					rows[row.Via]++
				}
				if diff := cmp.Diff(tc.rows, rows); diff != "" {
					t.Error("rows:\n" + diff)
				}
				if diff := cmp.Diff(tc.counts, r.book.counted()); diff != "" {
					t.Error("counted:\n" + diff)
				}
			})
		})
	}
}

// A notice that is filed half, because the store went away in between, is filed
// whole by a repeat.
func TestARepeatCompletesAFiling(t *testing.T) {
	r := newRig(t)
	r.dir.put("acme", notify.Channels{Webhook: hook, Robot: bot})
	broken := errors.New("connection reset")
	ledger := &failingLedger{Ledger: r.Memory, failAt: 2, err: broken}
	filing := notify.NewFiling(r.dir, ledger, r.book, time.Now)
	if err := filing.File(t.Context(), noticeOf("acme", "a")); !errors.Is(err, broken) {
		t.Fatalf("File = %v; want %v", err, broken)
	}
	if err := filing.File(t.Context(), noticeOf("acme", "a")); err != nil {
		t.Fatal(err)
	}
	if n := len(r.rows(notify.Selection{})); n != 2 {
		t.Errorf("%d rows; want 2", n)
	}
	r.dir.err = broken
	if err := filing.File(t.Context(), noticeOf("acme", "b")); !errors.Is(err, broken) || errors.Is(err, notify.ErrInvalidNotice) {
		t.Errorf("File without a directory = %v; want %v", err, broken)
	}
}

func TestNoticesAreChecked(t *testing.T) {
	for name, change := range map[string]func(*notify.Notice){
		"no key":           func(n *notify.Notice) { n.Key = "" },
		"a key too long":   func(n *notify.Notice) { n.Key = strings.Repeat("k", 513) },
		"no tenant":        func(n *notify.Notice) { n.Tenant = "" },
		"no kind":          func(n *notify.Notice) { n.Kind = "" },
		"an unknown kind":  func(n *notify.Notice) { n.Kind = "birthday" },
		"no instant":       func(n *notify.Notice) { n.At = time.Time{} },
		"a broken text":    func(n *notify.Notice) { n.Staff = "\xff" },
		"a zero byte":      func(n *notify.Notice) { n.Code = "c\x00" },
		"a text too large": func(n *notify.Notice) { n.Staff = strings.Repeat("s", 513) },
	} {
		r := newRig(t)
		n := noticeOf("acme", "a")
		change(&n)
		if err := notify.NewFiling(r.dir, r.Memory, r.book, time.Now).File(t.Context(), n); !errors.Is(err, notify.ErrInvalidNotice) {
			t.Errorf("%s: %v; want %v", name, err, notify.ErrInvalidNotice)
		}
		if len(r.rows(notify.Selection{})) > 0 {
			t.Errorf("%s: it is filed", name)
		}
	}
}
