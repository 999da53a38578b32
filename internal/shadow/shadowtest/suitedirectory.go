package shadowtest

import (
	"errors"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// DirectoryBench is a directory of three tenants. "mixed" is in UTC and live, with
// the codes "follows", "live", "shadow" and "retired", which is in shadow mode;
// "moving" is in America/New_York and in shadow mode since its term 1, with the
// codes "moving-follows", "moving-live" and "moving-shadow", the last of term 2;
// and "empty" has no code.
type DirectoryBench struct{ shadow.Directory }

// TestDirectory is the contract of a shadow.Directory.
func TestDirectory(t *testing.T, factory func(t *testing.T) DirectoryBench) {
	suitetest.Run(t, suitetest.Suite[DirectoryBench]{
		"a directory": {
			"knows the mode of each code":    modes,
			"does not know what there isn't": unknowns,
			"lists codes by page":            listed,
		},
	}, factory)
}

func modes(t *testing.T, b DirectoryBench) {
	for ref, want := range map[push.Ref]bool{
		{Tenant: "mixed", Code: "follows"}: false, {Tenant: "mixed", Code: "live"}: false,
		{Tenant: "mixed", Code: "shadow"}: true, {Tenant: "mixed", Code: "retired"}: false,
		{Tenant: "moving", Code: "moving-follows"}: true, {Tenant: "moving", Code: "moving-live"}: false,
		{Tenant: "moving", Code: "moving-shadow"}: true,
	} {
		zone := map[string]string{"mixed": "UTC", "moving": "America/New_York"}[ref.Tenant]
		got, err := b.Mode(t.Context(), ref)
		if err != nil || got.Shadow != want || got.Zone.String() != zone {
			t.Errorf("Mode(%v) = %+v, %v; want %v in %s", ref, got, err, want, zone)
		}
	}
}

func unknowns(t *testing.T, b DirectoryBench) {
	for ref, want := range map[push.Ref]error{
		{Tenant: "nobody", Code: "shadow"}:        push.ErrUnknownTenant,
		{Tenant: "mixed", Code: "no-such-code"}:   push.ErrUnknownCode,
		{Tenant: "mixed", Code: "moving-shadow"}:  push.ErrUnknownCode, // another tenant's
		{Tenant: "empty", Code: "moving-follows"}: push.ErrUnknownCode,
	} {
		if got, err := b.Mode(t.Context(), ref); !errors.Is(err, want) {
			t.Errorf("Mode(%v) = %+v, %v; want %v", ref, got, err, want)
		}
	}
	if _, err := b.Zone(t.Context(), "nobody"); !errors.Is(err, push.ErrUnknownTenant) {
		t.Errorf("Zone of nobody: %v", err)
	}
}

func listed(t *testing.T, b DirectoryBench) {
	for _, tc := range []struct {
		tenant, after string
		limit         int
		want          []shadow.Listed
	}{
		{"mixed", "", 2, []shadow.Listed{{Code: "follows"}, {Code: "live"}}},
		{"mixed", "live", 2, []shadow.Listed{{Code: "shadow", Shadow: true}}},
		{"mixed", "shadow", 2, nil},
		{"moving", "", 5, []shadow.Listed{
			{Code: "moving-follows", Shadow: true, Term: 1},
			{Code: "moving-live", Term: 1},
			{Code: "moving-shadow", Shadow: true, Term: 3},
		}},
		{"empty", "", 5, nil},
	} {
		got, err := b.Codes(t.Context(), tc.tenant, tc.after, tc.limit)
		if err != nil {
			t.Fatal(err)
		}
		suitetest.WantSame(t, "codes of "+tc.tenant+" after "+tc.after, tc.want, got)
	}
	if got, err := b.Mode(t.Context(), push.Ref{Tenant: "moving", Code: "moving-shadow"}); err != nil || got.Term != 3 {
		t.Errorf("Mode = %+v, %v", got, err)
	}
	if zone, err := b.Zone(t.Context(), "moving"); err != nil || zone.String() != "America/New_York" {
		t.Errorf("Zone = %v, %v", zone, err)
	}
}
