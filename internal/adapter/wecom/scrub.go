package wecom

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxMessage bounds what is kept of an errmsg, in bytes.
const maxMessage = 512

// credentialInURL finds a credential in any URL that got into a text.
var credentialInURL = regexp.MustCompile(`(?i)(access_token|corpsecret)=[^&\s"']*`)

// bareCause returns err without the URL around it. net/http wraps every
// failure in a *url.Error whose text is the whole URL, token included, and a
// transport in between may have wrapped that again; both are taken off. When a
// credential is still in the text the chain is given up for a clean text.
func bareCause(err error, secrets []Secret) error {
	for {
		var wrapped *url.Error
		if !errors.As(err, &wrapped) {
			break
		}
		err = wrapped.Err
	}
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := scrub(text, secrets); clean != text {
		return errors.New(clean)
	}
	return err
}

// scrub replaces every secret, plain or as in a query, in a text.
func scrub(text string, secrets []Secret) string {
	for _, secret := range secrets {
		if secret.Empty() {
			continue
		}
		text = strings.ReplaceAll(text, secret.Reveal(), redacted)
		text = strings.ReplaceAll(text, url.QueryEscape(secret.Reveal()), redacted)
	}
	return credentialInURL.ReplaceAllString(text, "$1="+redacted)
}

// message makes an errmsg fit for an error and a log line: scrubbed, on one
// line, bounded.
func message(errmsg string, secrets []Secret) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, scrub(strings.ToValidUTF8(errmsg, "?"), secrets))
	if len(clean) <= maxMessage {
		return clean
	}
	cut := maxMessage
	for !utf8.RuneStart(clean[cut]) {
		cut--
	}
	return clean[:cut] + "…"
}
