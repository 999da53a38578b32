package wecomcrypto

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSealedBodyOpens(t *testing.T) {
	c := vectorCodec(t)
	message := "<xml><Event><![CDATA[change_external_contact]]></Event></xml>"
	stamp, body, err := c.Seal([]byte(message), "1700000000", "n1")
	if err != nil {
		t.Fatalf("Seal: %v", err)
	}
	got, err := c.Open(StampOf(stamp.Query()), body)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if diff := cmp.Diff(message, string(got)); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	for _, part := range []string{"<ToUserName><![CDATA[" + vectorReceiver + "]]></ToUserName>", "<Encrypt><![CDATA["} {
		if !strings.Contains(string(body), part) {
			t.Errorf("envelope lacks %s: %s", part, body)
		}
	}
}

func TestSealedEchoOpens(t *testing.T) {
	c := vectorCodec(t)
	stamp, echo, err := c.SealEcho([]byte("161614"), "1700000000", "n1")
	if err != nil {
		t.Fatalf("SealEcho: %v", err)
	}
	if got, err := c.OpenEcho(stamp, echo); err != nil || string(got) != "161614" {
		t.Errorf("OpenEcho: %q, %v", got, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	c := vectorCodec(t)
	stamp, body, err := c.Seal([]byte("text"), "1700000000", "n1")
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func(*Stamp)) Stamp { s := stamp; f(&s); return s }
	for name, tc := range map[string]struct {
		stamp Stamp
		body  string
		want  error
	}{
		"another timestamp":      {change(func(s *Stamp) { s.Timestamp = "1700000001" }), string(body), ErrSignature},
		"another nonce":          {change(func(s *Stamp) { s.Nonce = "n2" }), string(body), ErrSignature},
		"no signature":           {change(func(s *Stamp) { s.Signature = "" }), string(body), ErrSignature},
		"signature in capitals":  {change(func(s *Stamp) { s.Signature = strings.ToUpper(s.Signature) }), string(body), ErrSignature},
		"another ciphertext":     {stamp, strings.Replace(string(body), "<Encrypt><![CDATA[", "<Encrypt><![CDATA[A", 1), ErrSignature},
		"not XML":                {stamp, "{}", ErrEnvelope},
		"no ciphertext":          {stamp, "<xml><Encrypt></Encrypt></xml>", ErrEnvelope},
		"another root":           {stamp, "<html></html>", ErrEnvelope},
		"nothing":                {stamp, "", ErrEnvelope},
		"too large a body":       {stamp, strings.Repeat("x", MaxBody+1), ErrTooLarge},
		"too large a ciphertext": {stamp, "<xml><Encrypt>" + strings.Repeat("A", MaxEncrypted+1) + "</Encrypt></xml>", ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.Open(tc.stamp, []byte(tc.body))
			if !errors.Is(err, tc.want) || got != nil {
				t.Errorf("Open: %q, %v; want %v", got, err, tc.want)
			}
		})
	}
}

func TestSignatureOfAnotherTokenIsRefused(t *testing.T) {
	other, err := New("another", vectorKey, vectorReceiver)
	if err != nil {
		t.Fatal(err)
	}
	stamp, body, err := other.Seal([]byte("text"), "1700000000", "n1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vectorCodec(t).Open(stamp, body); !errors.Is(err, ErrSignature) {
		t.Errorf("Open: %v, want %v", err, ErrSignature)
	}
}

func TestStampOfAnEmptyQuery(t *testing.T) {
	if diff := cmp.Diff(Stamp{}, StampOf(url.Values{})); diff != "" {
		t.Errorf("stamp (-want +got):\n%s", diff)
	}
}
