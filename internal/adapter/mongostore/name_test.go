package mongostore

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/push"
)

func TestFieldName(t *testing.T) {
	tests := map[string]string{
		"zhangsan":       "zhangsan",
		"zhang.san@corp": "zhang%2Esan@corp",
		"Li_Si-2":        "Li_Si-2",
		"$inc":           "%24inc",
		"100%":           "100%25",
		"a%2Eb":          "a%252Eb",
		"..":             "%2E%2E",
		"张三":             "张三",
	}
	for staff, want := range tests {
		if got := fieldName(staff); got != want {
			t.Errorf("fieldName(%q) = %q, want %q", staff, got, want)
		}
		if got := staffOf(want); got != staff {
			t.Errorf("staffOf(%q) = %q, want %q", want, got, staff)
		}
	}
}

// Two staff members never share a field, and every field is one that MongoDB
// takes literally.
func TestFieldNameIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		staff := rapid.StringOfN(rapid.RuneFrom([]rune("ab.$%25E4张@-_")), 1, 12, -1).Draw(t, "staff")
		field := fieldName(staff)
		if strings.ContainsAny(field, ".$") {
			t.Fatalf("fieldName(%q) = %q", staff, field)
		}
		if back := staffOf(field); back != staff {
			t.Fatalf("staffOf(fieldName(%q)) = %q", staff, back)
		}
	})
}

func TestRefIDKeepsTenantsApart(t *testing.T) {
	if refID(push.Ref{Tenant: "a", Code: "b/c"}) == refID(push.Ref{Tenant: "a", Code: "c"}) {
		t.Error("two codes share an _id")
	}
	// The only pair that could: a tenant whose ID holds a slash.
	if err := checkTenantID("a/b"); err == nil {
		t.Error("a tenant ID with a slash is accepted")
	}
}

func TestIDs(t *testing.T) {
	tests := map[string]struct {
		id string
		ok bool
	}{
		"ordinary":    {"zhang.san@corp", true},
		"at limit":    {strings.Repeat("x", MaxStaffID), true},
		"empty":       {"", false},
		"beyond":      {strings.Repeat("x", MaxStaffID+1), false},
		"a zero byte": {"a\x00b", false},
	}
	for name, test := range tests {
		if err := checkID("staff", test.id, MaxStaffID); (err == nil) != test.ok {
			t.Errorf("%s: checkID = %v, want ok %v", name, err, test.ok)
		}
	}
}
