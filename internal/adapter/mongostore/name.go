package mongostore

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// The order of the replacements is of no matter: strings.Replacer never looks
// at its own output.
var (
	toField   = strings.NewReplacer("%", "%25", ".", "%2E", "$", "%24")
	fromField = strings.NewReplacer("%25", "%", "%2E", ".", "%24", "$")
)

// fieldName turns a staff ID into the name of a field. A userid of WeCom may
// hold a dot, which MongoDB reads as a path, and a name of a field may not
// begin with a dollar: both are percent-encoded, and so is the percent sign.
// Everything else stays as it is.
func fieldName(staff string) string { return toField.Replace(staff) }

// staffOf is the inverse of fieldName.
func staffOf(field string) string { return fromField.Replace(field) }

// scoped is the _id of what belongs to a tenant: "tenant/name". A tenant ID
// holds no slash, so that no two pairs share an _id.
func scoped(tenant, name string) string { return tenant + "/" + name }

// refID is the _id of the record and of the dirty entry of a code. It holds the
// tenant, so that an event that names the wrong one can never take the place
// of the right one.
func refID(ref push.Ref) string { return scoped(ref.Tenant, ref.Code) }

func checkTenantID(id string) error {
	return errors.Join(checkLength("tenant", id, ident.MaxTenant), checkPlain("tenant", id))
}

func checkCodeID(id string) error {
	return errors.Join(checkLength("code", id, ident.MaxCode), checkPlain("code", id))
}

func checkStaffID(id string) error {
	if strings.ContainsRune(id, 0) {
		return fmt.Errorf("staff ID %q holds a zero byte", id)
	}
	return checkLength("staff", id, ident.MaxStaff)
}

func checkLength(what, id string, limit int) error {
	if id == "" || len(id) > limit {
		return fmt.Errorf("%s ID of %d bytes: it has to have 1 to %d", what, len(id), limit)
	}
	return nil
}

// checkPlain refuses what an event could not name.
func checkPlain(what, id string) error {
	if !ident.Plain(id) {
		return fmt.Errorf("%s ID %q: only A-Z a-z 0-9 . _ : - are allowed", what, id)
	}
	return nil
}
