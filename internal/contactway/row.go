package contactway

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Phase says how far a contact way has come.
type Phase string

// The phases, as the package's comment tells them.
const (
	Wanted  Phase = "wanted"
	Adding  Phase = "adding"
	Made    Phase = "made"
	Done    Phase = "done"
	Refused Phase = "refused"
)

// Key names a contact way that somebody wants: a code's own, or that of one
// staff member on a code.
type Key struct {
	push.Ref
	Staff string // "" is the code's own
	// Variant tells a member's ways apart by what they were made with, without
	// a slash; "" for the code's own, which a push changes.
	Variant string
}

// memberKey names a member's way. WeCom lets nobody change what it was made
// with except by a call a way, so a code whose settings change gets new ones.
func memberKey(ref push.Ref, staff, state string, skipVerify bool) Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%t\x00%s", skipVerify, state))
	return Key{Ref: ref, Staff: staff, Variant: hex.EncodeToString(sum[:8])}
}

// OfMember reports whether it is the way of one staff member.
func (k Key) OfMember() bool { return k.Staff != "" }

// Row is what is known of one contact way that somebody wants.
type Row struct {
	Key
	// Version grows with every replacement; 0 is a row that is not stored.
	Version int64
	Phase   Phase
	Marker  string
	Owner   string // the process that touched it last, for a person
	// NotBefore is when the next step may be taken. Until then the row is its
	// owner's, or waits.
	NotBefore time.Time
	// Window is when a call that was announced may have taken effect.
	Window Window
	// ConfigID and QRCode are the contact way's, from Made on.
	ConfigID string
	QRCode   string
	// Spare are contact ways with the row's marker that are one too many.
	Spare []string
	// Failures is the run of attempts that came to nothing; Why and Detail are
	// of the last, for a person.
	Failures int
	Why      reason.Reason
	Detail   string
}

// Settled reports whether no further step is to be taken by itself.
func (r Row) Settled() bool { return r.Phase == Done || (r.Phase == Refused && r.OfMember()) }

// Window is a span of time, both ends included; the zero Window is none.
type Window struct{ From, To time.Time }

const (
	markerPrefix = "rollcall:"
	markerSize   = 30 // characters; WeCom's limit of a remark (page 96348)
)

// Marked reports whether a remark is a marker: its contact way was just made, and
// is about to be given to a code, or belongs to a landing page's member.
func Marked(remark string) bool {
	return strings.HasPrefix(remark, markerPrefix) && utf8.RuneCountInString(remark) == markerSize
}

// newMarker returns a text that no other contact way carries.
func newMarker() string {
	return markerPrefix + strings.ToLower(rand.Text()[:markerSize-len(markerPrefix)])
}
