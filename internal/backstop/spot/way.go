package spot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Way is a contact way as far as an update overwrites it: what WeCom holds, or
// what it should.
type Way struct {
	Users []string // sorted, each once
	// Departments bring in everybody who is in them. Ours has none.
	Departments []int64
	Remark      string
	State       string
	SkipVerify  bool
}

// usersOf returns a list as Way.Users has it: WeCom keeps no order.
func usersOf(members []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(members)))
}

// differs compares what WeCom holds with what it should; "" when they agree.
func differs(ours, theirs Way, known bool) reason.Reason {
	switch {
	case !known:
		return reason.Gone
	case !slices.Equal(ours.Users, theirs.Users) || len(theirs.Departments) > 0:
		return reason.ForeignEdit
	case ours.Remark != theirs.Remark || ours.State != theirs.State || ours.SkipVerify != theirs.SkipVerify:
		return reason.AttributesDiffer
	}
	return ""
}

// maxNamed bounds the members that a detail names on each side, and maxName the
// characters of one: a detail has to fit a line.
const (
	maxNamed = 3
	maxName  = 40
)

// Detail says in one line how ours and theirs differ.
func (d Difference) Detail() string {
	if d.Cause == reason.Gone {
		return fmt.Sprintf("not Rollcall: WeCom has no such contact way any more; ours lists %d", len(d.Ours.Users))
	}
	var parts []string
	add := func(what, value string) {
		if value != "" {
			parts = append(parts, what+" "+value)
		}
	}
	add("only WeCom:", named(missing(d.Theirs.Users, d.Ours.Users)))
	add("only ours:", named(missing(d.Ours.Users, d.Theirs.Users)))
	if n := len(d.Theirs.Departments); n > 0 {
		add("departments:", fmt.Sprint(n))
	}
	if d.Ours.Remark != d.Theirs.Remark {
		add("remark", fmt.Sprintf("%q, ours %q", clipped(d.Theirs.Remark), clipped(d.Ours.Remark)))
	}
	if d.Ours.State != d.Theirs.State {
		add("state", fmt.Sprintf("%q, ours %q", clipped(d.Theirs.State), clipped(d.Ours.State)))
	}
	if d.Ours.SkipVerify != d.Theirs.SkipVerify {
		add("skip_verify", fmt.Sprintf("%t, ours %t", d.Theirs.SkipVerify, d.Ours.SkipVerify))
	}
	return "not Rollcall: " + strings.Join(parts, "; ")
}

// missing returns who is in one sorted list and not in the other.
func missing(in, from []string) []string {
	var only []string
	for _, user := range in {
		if _, found := slices.BinarySearch(from, user); !found {
			only = append(only, user)
		}
	}
	return only
}

// named joins the first of some users; "" for none.
func named(users []string) string {
	shown := make([]string, 0, maxNamed)
	for _, user := range users[:min(len(users), maxNamed)] {
		shown = append(shown, clipped(user))
	}
	text := strings.Join(shown, ", ")
	if more := len(users) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func clipped(text string) string {
	if runes := []rune(text); len(runes) > maxName {
		return string(runes[:maxName-1]) + "…"
	}
	return text
}

// settled reports whether WeCom holds the record's list for sure, unless
// somebody else wrote: there is a list, it is trusted, and nothing is on its way.
func settled(r push.Record) bool {
	return r.Committed.Hash != "" && r.Committed.Epoch == r.Epoch && len(r.Intents) == 0
}
