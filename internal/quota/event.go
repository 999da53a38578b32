package quota

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"
)

// Change says what happened between a staff member and a customer.
type Change string

// The changes (WeCom's page 96238).
const (
	// Added: the two are contacts of each other.
	Added Change = "added"
	// HalfAdded: the customer has added the member, who has yet to confirm. An
	// Added may follow, and the two are one addition.
	HalfAdded Change = "half_added"
	// Deleted: the member has deleted the customer.
	Deleted Change = "deleted"
	// Unfollowed: the customer has deleted the member.
	Unfollowed Change = "unfollowed"
)

// adds reports whether the change makes the two contacts.
func (c Change) adds() bool { return c == Added || c == HalfAdded }

// Pair is a staff member and a customer of a tenant.
type Pair struct {
	Tenant   string
	Staff    string
	Customer string // WeCom's external_userid; holds no slash
}

// Event is what WeCom told of a pair. Events have no number of their own: two
// of one pair with the same change, second and state are the same event.
type Event struct {
	Pair
	Change Change
	State  string    // of the contact way the customer came through
	At     time.Time // in whole seconds
}

// id names the addition that begins with an entry of the pair: 96 bits of a
// hash, so that two of one code never meet.
func (p Pair) id(e Entry) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %d %q", p.Tenant, p.Staff, p.Customer, e.Change, e.At.Unix(), e.State))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
