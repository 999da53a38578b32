package callback

import (
	"errors"
	"strings"
	"testing"
)

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":              "",
		"another root":         "<json></json>",
		"no end":               "<xml><UserID>a</UserID>",
		"twice":                "<xml><UserID>a</UserID><UserID>b</UserID></xml>",
		"an element within":    "<xml><UserID>a<b/></UserID></xml>",
		"text between":         "<xml>a<UserID>a</UserID></xml>",
		"text behind":          "<xml></xml>x",
		"a second document":    "<xml></xml><xml></xml>",
		"a document type":      "<!DOCTYPE xml><xml></xml>",
		"an entity":            "<xml><UserID>&a;</UserID></xml>",
		"a comment":            "<xml><!-- --></xml>",
		"nested without end":   "<xml>" + strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100) + "</xml>",
		"a byte that is no t.": "<xml><UserID>\xff</UserID></xml>",
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := parse([]byte(text)); !errors.Is(err, errXML) {
				t.Errorf("parse: %+v, %v", m, err)
			}
		})
	}
}

func TestParseTakesWhatWeComMayAdd(t *testing.T) {
	m, err := parse([]byte("<?xml version=\"1.0\"?>\n<xml>\n<UserID> a </UserID><New><Deep>x</Deep></New><State/></xml>\n"))
	if err != nil || m.UserID != "a" || m.State != "" {
		t.Errorf("parse: %+v, %v", m, err)
	}
}

func TestIDsThatNoDocumentCouldHave(t *testing.T) {
	for _, id := range []string{"", "a/b", "a b", "a\x00", strings.Repeat("a", maxUserID+1)} {
		m := message{Event: changeExternalContact, ChangeType: "del_follow_user", CreateTime: "1", UserID: id, ExternalUserID: "c"}
		if _, _, err := m.customer("acme"); !errors.Is(err, errXML) {
			t.Errorf("UserID %q: %v", id, err)
		}
	}
	for _, at := range []string{"", "x", "-1", "0", "99999999999999999999"} {
		m := message{Event: changeExternalContact, ChangeType: "del_follow_user", CreateTime: at, UserID: "a", ExternalUserID: "c"}
		if _, _, err := m.customer("acme"); !errors.Is(err, errXML) {
			t.Errorf("CreateTime %q: %v", at, err)
		}
	}
}

// FuzzParse: whatever a holder of the key sends, parsing neither panics nor
// holds more than it was given.
func FuzzParse(f *testing.F) {
	f.Add("<xml><UserID>a</UserID><State><![CDATA[s]]></State></xml>")
	f.Add("<xml><A><B></B></A></xml>")
	f.Add("<!DOCTYPE x><xml/>")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parse([]byte(text))
		if err != nil {
			if !errors.Is(err, errXML) {
				t.Fatalf("error %v", err)
			}
			return
		}
		held := 0
		for _, field := range []string{m.ToUserName, m.CreateTime, m.MsgType, m.Event, m.ChangeType, m.UserID, m.NewUserID, m.Department, m.Status, m.ExternalUserID, m.State} {
			held += len(field)
		}
		if held > len(text) {
			t.Fatalf("%d bytes of fields out of %d", held, len(text))
		}
		_, _, _ = m.customer("acme")
		_, _, _ = m.staff("acme")
	})
}
