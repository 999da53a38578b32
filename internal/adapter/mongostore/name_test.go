package mongostore

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/ident"
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
		check func(string) error
		id    string
		ok    bool
	}{
		"a userid":                     {checkStaffID, "zhang.san@corp", true},
		"a userid at the limit":        {checkStaffID, strings.Repeat("x", ident.MaxStaff), true},
		"a userid beyond it":           {checkStaffID, strings.Repeat("x", ident.MaxStaff+1), false},
		"no userid":                    {checkStaffID, "", false},
		"a userid with a zero byte":    {checkStaffID, "a\x00b", false},
		"a tenant":                     {checkTenantID, "wwd08c8e7c775ab44d", true},
		"a tenant of an event's bytes": {checkTenantID, "A-z_0.9:x", true},
		"a tenant at the limit":        {checkTenantID, strings.Repeat("x", ident.MaxTenant), true},
		"a tenant beyond it":           {checkTenantID, strings.Repeat("x", ident.MaxTenant+1), false},
		"a tenant with a slash":        {checkTenantID, "a/b", false},
		"no tenant":                    {checkTenantID, "", false},
		"a code":                       {checkCodeID, "c-00017", true},
		"a code with a space":          {checkCodeID, "c 17", false},
		"a code in Chinese":            {checkCodeID, "码", false},
		"a code beyond the limit":      {checkCodeID, strings.Repeat("x", ident.MaxCode+1), false},
	}
	for name, test := range tests {
		if err := test.check(test.id); (err == nil) != test.ok {
			t.Errorf("%s: %v, want ok %v", name, err, test.ok)
		}
	}
}
