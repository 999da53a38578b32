package wecomsim

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"time"
)

// The kinds of events and their changes (pages 90970, 96238).
const (
	ChangeExternalContact = "change_external_contact"
	ChangeContact         = "change_contact"

	AddExternalContact     = "add_external_contact"
	AddHalfExternalContact = "add_half_external_contact"
	DelExternalContact     = "del_external_contact"
	DelFollowUser          = "del_follow_user"
	DeleteUser             = "delete_user"
	UpdateUser             = "update_user"
	CreateUser             = "create_user"
)

// Event is one callback. Empty fields are left out of its XML.
type Event struct {
	Corp           string    `json:"corp"`
	Event          string    `json:"event"`       // "" is ChangeExternalContact
	ChangeType     string    `json:"change_type"` // e.g. AddExternalContact
	UserID         string    `json:"user_id"`
	ExternalUserID string    `json:"external_user_id,omitempty"`
	State          string    `json:"state,omitempty"`
	WelcomeCode    string    `json:"welcome_code,omitempty"`
	CreateTime     time.Time `json:"create_time,omitzero"` // told in whole seconds; zero is now

	// Of change_contact only.
	NewUserID  string `json:"new_user_id,omitempty"`
	Department string `json:"department,omitempty"` // IDs joined by commas
	Status     int    `json:"status,omitempty"`     // 1, 2, 4 or 5
}

type cdata struct {
	Text string `xml:",cdata"`
}

type eventXML struct {
	XMLName        xml.Name `xml:"xml"`
	ToUserName     cdata
	FromUserName   cdata
	CreateTime     int64
	MsgType        cdata
	Event          cdata
	ChangeType     cdata
	UserID         *cdata `xml:",omitempty"`
	NewUserID      *cdata `xml:",omitempty"`
	Department     *cdata `xml:",omitempty"`
	Status         string `xml:",omitempty"`
	ExternalUserID *cdata `xml:",omitempty"`
	State          *cdata `xml:",omitempty"`
	WelcomeCode    *cdata `xml:",omitempty"`
}

// XML returns the plaintext of the callback. FromUserName is always "sys".
func (e Event) XML() ([]byte, error) {
	out := eventXML{
		ToUserName: cdata{e.Corp}, FromUserName: cdata{"sys"}, CreateTime: e.CreateTime.Unix(),
		MsgType: cdata{"event"}, Event: cdata{e.Event}, ChangeType: cdata{e.ChangeType},
		UserID: optional(e.UserID), NewUserID: optional(e.NewUserID), Department: optional(e.Department),
		ExternalUserID: optional(e.ExternalUserID), State: optional(e.State), WelcomeCode: optional(e.WelcomeCode),
	}
	if e.Status != 0 {
		out.Status = strconv.Itoa(e.Status)
	}
	body, err := xml.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("write event %s/%s: %w", e.Event, e.ChangeType, err)
	}
	return body, nil
}

func optional(text string) *cdata {
	if text == "" {
		return nil
	}
	return &cdata{text}
}
