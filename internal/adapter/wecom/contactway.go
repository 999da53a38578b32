package wecom

import (
	"encoding/json"
	"time"
)

// Type says how many members a contact way may have.
type Type int

// The types of a contact way (page 96348). A type never changes: an update has
// no such field.
const (
	Single Type = 1 // exactly one member
	Multi  Type = 2 // up to MaxMembers
)

// Scene says where a contact way is shown.
type Scene int

// The scenes of a contact way (page 96348).
const (
	MiniProgram Scene = 1
	QRCode      Scene = 2
)

// Limits of a contact way (page 96348).
const (
	MaxMembers  = 100  // members, those of its departments included
	MaxText     = 30   // characters of remark and of state
	MaxPageSize = 1000 // config IDs in one page of a listing
)

// AddContactWayRequest makes a contact way. A field that is zero and marked
// optional is not sent.
type AddContactWayRequest struct {
	Type   Type   `json:"type"`
	Scene  Scene  `json:"scene"`
	Style  int    `json:"style,omitempty"` // mini-program button; optional
	Remark string `json:"remark,omitempty"`
	// SkipVerify is always sent: WeCom takes a missing one for true.
	SkipVerify bool     `json:"skip_verify"`
	State      string   `json:"state,omitempty"`
	User       []string `json:"user,omitempty"`
	Party      []int64  `json:"party,omitempty"`
	IsTemp     bool     `json:"is_temp,omitempty"`
	// ExpiresIn and ChatExpiresIn are seconds and count for temporary ways.
	ExpiresIn     int    `json:"expires_in,omitempty"`
	ChatExpiresIn int    `json:"chat_expires_in,omitempty"`
	UnionID       string `json:"unionid,omitempty"`
	IsExclusive   bool   `json:"is_exclusive,omitempty"`
	// MarkSource is optional; WeCom takes a missing one for true.
	MarkSource  *bool           `json:"mark_source,omitempty"`
	Conclusions json.RawMessage `json:"conclusions,omitempty"`

	// SendBy is that of UpdateContactWayRequest.
	SendBy time.Time `json:"-"`
}

// AddContactWayResponse names the new contact way. Both values are needed: the
// QR code's URL is not derivable from the config ID.
type AddContactWayResponse struct {
	ConfigID string `json:"config_id"`
	QRCode   string `json:"qr_code"`
}

// ContactWay is what WeCom holds.
type ContactWay struct {
	ConfigID      string          `json:"config_id"`
	Type          Type            `json:"type"`
	Scene         Scene           `json:"scene"`
	Style         int             `json:"style"`
	Remark        string          `json:"remark"`
	SkipVerify    bool            `json:"skip_verify"`
	State         string          `json:"state"`
	QRCode        string          `json:"qr_code"`
	User          []string        `json:"user"`
	Party         []int64         `json:"party"`
	IsTemp        bool            `json:"is_temp"`
	ExpiresIn     int             `json:"expires_in"`      // seconds
	ChatExpiresIn int             `json:"chat_expires_in"` // seconds
	UnionID       string          `json:"unionid"`
	Conclusions   json.RawMessage `json:"conclusions"`
}

// UpdateContactWayRequest replaces what WeCom holds of a contact way. WeCom
// overwrites remark, user and party with what an update says, so these, and
// the verification and state that belong to the same decision, are always
// sent; what is optional is left alone when it is zero.
type UpdateContactWayRequest struct {
	ConfigID   string   `json:"config_id"`
	Remark     string   `json:"remark"`
	SkipVerify bool     `json:"skip_verify"`
	State      string   `json:"state"`
	User       []string `json:"user"`
	// Party is sent as [] when nil: a department left on a contact way would
	// bring in people nobody decided on.
	Party         []int64         `json:"party"`
	Style         int             `json:"style,omitempty"`
	ExpiresIn     int             `json:"expires_in,omitempty"`
	ChatExpiresIn int             `json:"chat_expires_in,omitempty"`
	UnionID       string          `json:"unionid,omitempty"`
	MarkSource    *bool           `json:"mark_source,omitempty"`
	Conclusions   json.RawMessage `json:"conclusions,omitempty"`

	// SendBy is the last instant at which the request may be sent; zero sets
	// no bound. It is checked when a connection is there to write to.
	SendBy time.Time `json:"-"`
}

// ListContactWaysRequest chooses contact ways by the time of their making.
// WeCom's window is the last 90 days when both are zero.
type ListContactWaysRequest struct {
	Start time.Time
	End   time.Time
	// PageSize is at most MaxPageSize, which is also the default.
	PageSize int
}
