package callback

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rollcall-dev/rollcall/internal/quota"
)

// errXML says that a callback's text is not what WeCom documents.
var errXML = errors.New("the message is not the documented XML")

// Bounds of what a message may name, in bytes.
const (
	maxDepth      = 8
	maxUserID     = 64  // WeCom's own limit
	maxCustomerID = 128 // documented ones have 32
	maxState      = 128 // WeCom's limit is 30 characters
)

// message is what is read of an event (WeCom's pages 96238 and 90970).
type message struct {
	ToUserName     string
	CreateTime     string
	MsgType        string
	Event          string
	ChangeType     string
	UserID         string
	NewUserID      string
	Department     string
	Status         string
	ExternalUserID string
	State          string
}

func (m *message) field(name string) *string {
	switch name {
	case "ToUserName":
		return &m.ToUserName
	case "CreateTime":
		return &m.CreateTime
	case "MsgType":
		return &m.MsgType
	case "Event":
		return &m.Event
	case "ChangeType":
		return &m.ChangeType
	case "UserID":
		return &m.UserID
	case "NewUserID":
		return &m.NewUserID
	case "Department":
		return &m.Department
	case "Status":
		return &m.Status
	case "ExternalUserID":
		return &m.ExternalUserID
	case "State":
		return &m.State
	}
	return nil
}

// parse reads the flat document <xml>…</xml>. Elements that are not known are
// skipped, since WeCom adds some from time to time; a known one that comes
// twice, a document type, or anything behind the document is refused.
func parse(text []byte) (message, error) {
	d := xml.NewDecoder(bytes.NewReader(text)) //nolint:gosec // the decoder knows no entities, and the text is bounded
	if err := root(d); err != nil {
		return message{}, err
	}
	var m message
	seen := map[string]bool{}
	for {
		token, err := d.Token()
		if err != nil {
			return message{}, errXML
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := m.read(d, t.Name.Local, seen); err != nil {
				return message{}, err
			}
		case xml.EndElement:
			return m, end(d)
		default:
			if !blank(token) {
				return message{}, errXML
			}
		}
	}
}

// read reads one element, or skips it.
func (m *message) read(d *xml.Decoder, name string, seen map[string]bool) (err error) {
	into := m.field(name)
	if into == nil {
		return skip(d)
	}
	if seen[name] {
		return fmt.Errorf("%w: %s comes twice", errXML, name)
	}
	seen[name] = true
	*into, err = textOf(d)
	return err
}

// blank reports that a token is white space.
func blank(token xml.Token) bool {
	text, ok := token.(xml.CharData)
	return ok && len(bytes.TrimSpace(text)) == 0
}

// root reads up to and including the start of the document's element.
func root(d *xml.Decoder) error {
	for {
		token, err := d.Token()
		if err != nil {
			return errXML
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local != "xml" {
				return errXML
			}
			return nil
		case xml.ProcInst:
		default: // a document type, above all
			if !blank(token) {
				return errXML
			}
		}
	}
}

// textOf reads the text of an element that has no others within.
func textOf(d *xml.Decoder) (string, error) {
	var b strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return "", errXML
		}
		switch t := token.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.EndElement:
			return strings.TrimSpace(b.String()), nil
		default:
			return "", errXML
		}
	}
}

// skip reads to the end of an element, whatever is in it.
func skip(d *xml.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return errXML
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.Directive:
			return errXML
		}
		if depth > maxDepth {
			return fmt.Errorf("%w: nested too deeply", errXML)
		}
	}
	return nil
}

// end makes sure that nothing follows.
func end(d *xml.Decoder) error {
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || !blank(token) {
			return errXML
		}
	}
}

// The events that something follows from.
const (
	changeExternalContact = "change_external_contact"
	changeContact         = "change_contact"
)

var customerChanges = map[string]quota.Change{
	"add_external_contact":      quota.Added,
	"add_half_external_contact": quota.HalfAdded,
	"del_external_contact":      quota.Deleted,
	"del_follow_user":           quota.Unfollowed,
}

// customer returns what an event says of a customer; false when it is about
// something else.
func (m message) customer(tenant string) (quota.Event, bool, error) {
	change, known := customerChanges[m.ChangeType]
	if m.Event != changeExternalContact || !known {
		return quota.Event{}, false, nil
	}
	at, err := m.at()
	if err == nil {
		err = errors.Join(
			checkID("UserID", m.UserID, maxUserID),
			checkID("ExternalUserID", m.ExternalUserID, maxCustomerID),
			checkState(m.State),
		)
	}
	return quota.Event{
		Pair:   quota.Pair{Tenant: tenant, Staff: m.UserID, Customer: m.ExternalUserID},
		Change: change, State: m.State, At: at,
	}, true, err
}

// staff returns what an event says of a staff member; false when it is about
// something else, such as a department, of which no list consists.
func (m message) staff(tenant string) (quota.StaffChange, bool, error) {
	if m.Event != changeContact {
		return quota.StaffChange{}, false, nil
	}
	change := quota.StaffChange{Tenant: tenant, Staff: m.UserID, Renamed: m.NewUserID}
	switch m.ChangeType {
	case "delete_user":
		change.Standing = quota.Gone
	case "create_user":
		change.Standing = quota.Active
	case "update_user":
	default:
		return quota.StaffChange{}, false, nil
	}
	var err, renamed error
	change.At, err = m.at()
	if m.NewUserID != "" {
		renamed = checkID("NewUserID", m.NewUserID, maxUserID)
	}
	err = errors.Join(err, checkID("UserID", m.UserID, maxUserID), renamed)
	if err == nil && m.ChangeType == "update_user" {
		change.Standing, err = standing(m.Status)
	}
	if err == nil {
		change.Departments, err = departments(m.Department)
	}
	return change, true, err
}

// standing reads the state of an account: 1 activated, 2 disabled, 4 not
// activated, 5 left (page 90970).
func standing(status string) (quota.Standing, error) {
	switch status {
	case "":
		return "", nil
	case "1":
		return quota.Active, nil
	case "2", "4":
		return quota.Inactive, nil
	case "5":
		return quota.Gone, nil
	}
	return "", fmt.Errorf("%w: Status is %.16q, not 1, 2, 4 or 5", errXML, status)
}

func departments(list string) ([]int64, error) {
	if list == "" {
		return nil, nil
	}
	var ids []int64
	for part := range strings.SplitSeq(list, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: Department is not a list of numbers", errXML)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// at is the time of the event, in whole seconds since 1970.
func (m message) at() (time.Time, error) {
	seconds, err := strconv.ParseInt(m.CreateTime, 10, 64)
	if err != nil || seconds <= 0 || seconds >= 1<<33 {
		return time.Time{}, fmt.Errorf("%w: CreateTime is not a time in seconds", errXML)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// checkID keeps out what could not be part of a document's name.
func checkID(name, id string, most int) error {
	if id == "" || len(id) > most || !utf8.ValidString(id) || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r == '/' || r == 0x7f }) {
		return fmt.Errorf("%w: %s is empty, too long or holds a character that no ID has", errXML, name)
	}
	return nil
}

func checkState(state string) error {
	if len(state) > maxState || !utf8.ValidString(state) || strings.ContainsRune(state, 0) {
		return fmt.Errorf("%w: State is too long", errXML)
	}
	return nil
}
