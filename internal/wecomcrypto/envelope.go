package wecomcrypto

import (
	"encoding/xml"
	"fmt"
	"net/url"
)

// Stamp is what a callback's URL says about its body.
type Stamp struct {
	Signature string // msg_signature
	Timestamp string // seconds since 1970, decimal
	Nonce     string
}

// StampOf reads the stamp from a callback's query.
func StampOf(query url.Values) Stamp {
	return Stamp{
		Signature: query.Get("msg_signature"),
		Timestamp: query.Get("timestamp"),
		Nonce:     query.Get("nonce"),
	}
}

// Query returns the stamp as query parameters.
func (s Stamp) Query() url.Values {
	return url.Values{"msg_signature": {s.Signature}, "timestamp": {s.Timestamp}, "nonce": {s.Nonce}}
}

type envelope struct {
	XMLName    xml.Name `xml:"xml"`
	ToUserName cdata    `xml:"ToUserName"`
	AgentID    cdata    `xml:"AgentID"`
	Encrypt    cdata    `xml:"Encrypt"`
}

type cdata struct {
	Text string `xml:",cdata"`
}

// Seal encrypts and signs a message and returns the stamp for the URL and the
// XML envelope for the body.
func (c *Codec) Seal(message []byte, timestamp, nonce string) (Stamp, []byte, error) {
	encrypted, err := c.Encrypt(message)
	if err != nil {
		return Stamp{}, nil, err
	}
	body, err := xml.Marshal(envelope{
		ToUserName: cdata{c.receiveID},
		Encrypt:    cdata{encrypted},
	})
	if err != nil {
		return Stamp{}, nil, fmt.Errorf("wecom callback: write envelope: %w", err)
	}
	stamp := Stamp{Signature: c.Sign(timestamp, nonce, encrypted), Timestamp: timestamp, Nonce: nonce}
	return stamp, body, nil
}

// SealEcho encrypts and signs the text of a URL check and returns the stamp
// and the value of echostr.
func (c *Codec) SealEcho(text []byte, timestamp, nonce string) (Stamp, string, error) {
	encrypted, err := c.Encrypt(text)
	if err != nil {
		return Stamp{}, "", err
	}
	return Stamp{Signature: c.Sign(timestamp, nonce, encrypted), Timestamp: timestamp, Nonce: nonce}, encrypted, nil
}

// Open verifies and decrypts the body of a POSTed callback. It fails with
// ErrTooLarge, ErrEnvelope, ErrSignature or an error of Decrypt.
func (c *Codec) Open(stamp Stamp, body []byte) ([]byte, error) {
	if len(body) > MaxBody {
		return nil, ErrTooLarge
	}
	var env envelope
	if err := xml.Unmarshal(body, &env); err != nil || env.Encrypt.Text == "" {
		return nil, ErrEnvelope
	}
	return c.OpenEcho(stamp, env.Encrypt.Text)
}

// OpenEcho verifies and decrypts the echostr of a URL check. The answer to
// the check is the returned text, bare. It fails with ErrSignature or an error
// of Decrypt.
func (c *Codec) OpenEcho(stamp Stamp, echostr string) ([]byte, error) {
	if len(echostr) > MaxEncrypted {
		return nil, ErrTooLarge
	}
	if err := c.Verify(stamp, echostr); err != nil {
		return nil, err
	}
	return c.Decrypt(echostr)
}
