package grouprobot

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Errors of Send that a caller may want to tell apart, by errors.Is.
var (
	// ErrTooLong says that a text is beyond MaxMarkdown: it was not sent.
	ErrTooLong = errors.New("the text is too long for a robot")
	// ErrThrottled says that the robot was sent more than PerMinute messages
	// within a minute (45009): it will take this one later.
	ErrThrottled = errors.New("the robot takes no more messages this minute")
	// ErrUnknownRobot says that no robot has this key (93000): it was removed
	// from its group, or the URL was copied in part.
	ErrUnknownRobot = errors.New("no robot has this key")
	// ErrAnswer says that what answered is not WeCom.
	ErrAnswer = errors.New("the answer is not WeCom's JSON")
)

// WeCom's error codes as a robot gives them.
const (
	codeTooFrequent = 45009
	codeBadWebhook  = 93000
)

// Refusal is WeCom's answer to a message that was not shown.
type Refusal struct {
	HTTPStatus int
	ErrCode    int    // 0: the status alone says no
	Message    string // WeCom's errmsg, without the key
}

// Error says what was answered.
func (r *Refusal) Error() string {
	if r.HTTPStatus != http.StatusOK {
		return fmt.Sprintf("http %d", r.HTTPStatus)
	}
	return fmt.Sprintf("errcode %d: %s", r.ErrCode, r.Message)
}

// Is makes errors.Is tell the refusals apart.
func (r *Refusal) Is(target error) bool {
	switch target {
	case ErrThrottled:
		return r.ErrCode == codeTooFrequent
	case ErrUnknownRobot:
		return r.ErrCode == codeBadWebhook
	}
	return false
}

// bare is an error without the URL around it, which net/http puts there, key
// included; should the key be in the text all the same, only a clean text is
// left of it.
func bare(err error, secrets []string) error {
	for {
		var wrapped *url.Error
		if !errors.As(err, &wrapped) {
			break
		}
		err = wrapped.Err
	}
	if text := err.Error(); clean(text, secrets) != text {
		return errors.New(clean(text, secrets))
	}
	return err
}

// clean replaces the secrets in a text and keeps it on one line.
func clean(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
