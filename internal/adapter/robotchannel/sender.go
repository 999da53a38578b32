package robotchannel

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/grouprobot"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// sendPath is where WeCom takes a robot's messages.
const sendPath = "/cgi-bin/webhook/send"

// throttledFor is how long a robot rests that refused a message because of the
// number of them: its window.
const throttledFor = time.Minute

// Sender is the notify.Sender of group robots. It is safe for concurrent use.
type Sender struct {
	client *grouprobot.Client
	base   string
	pace   *pace
}

var _ notify.Sender = (*Sender)(nil)

// New returns a Sender. base is where WeCom's API is, as
// https://qyapi.weixin.qq.com; now is the clock of the pace.
func New(client *grouprobot.Client, base string, now func() time.Time) *Sender {
	return &Sender{client: client, base: strings.TrimRight(base, "/"), pace: newPace(now)}
}

// Admit keeps a robot below what it shows in a minute, as far as this process
// sees: what others send through the robot, or a keeper before this one, counts
// too, and is noticed by a refusal.
func (s *Sender) Admit(to notify.Channels) time.Duration { return s.pace.admit(to.Robot.Key) }

// Send shows the message once. WeCom knows no idempotency key: a message whose
// answer is lost is shown once more.
func (s *Sender) Send(ctx context.Context, to notify.Channels, m notify.Message) notify.Outcome {
	webhook, err := grouprobot.ParseWebhook(s.base + sendPath + "?key=" + url.QueryEscape(to.Robot.Key))
	if err != nil {
		return notify.Refused{Cause: reason.Refused, Detail: err.Error()}
	}
	return judge(s.client.SendMarkdown(ctx, webhook, m.Notice.Markdown()))
}

// permanent are WeCom's answers that another try does not change: an empty
// parameter, another type of message, a text that is too long, no such robot.
var permanent = map[int]bool{40008: true, 40058: true, 40063: true, 93000: true}

// judge is what the call's error means. The texts of package grouprobot hold no
// key.
func judge(err error) notify.Outcome {
	if err == nil {
		return notify.Accepted{}
	}
	var refusal *grouprobot.Refusal
	switch {
	case errors.Is(err, grouprobot.ErrThrottled):
		return notify.Again{Cause: reason.Throttled, Detail: shorten(err), After: throttledFor}
	case errors.Is(err, grouprobot.ErrTooLong), errors.As(err, &refusal) && permanent[refusal.ErrCode]:
		return notify.Refused{Cause: reason.Refused, Detail: shorten(err)}
	}
	return notify.Again{Cause: reason.Transient, Detail: shorten(err)}
}

// maxDetail bounds what is kept of an error, in bytes.
const maxDetail = 300

func shorten(err error) string {
	text := []rune(err.Error())
	for len(string(text)) > maxDetail {
		text = text[:len(text)*3/4]
	}
	return string(text)
}
