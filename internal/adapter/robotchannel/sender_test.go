package robotchannel_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/adapter/grouprobot"
	"github.com/rollcall-dev/rollcall/internal/adapter/robotchannel"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "k3y-0f-the-robot"

var (
	group   = notify.Channels{Robot: notify.Robot{Key: key}}
	message = notify.Message{ID: "0123", Notice: notify.Notice{
		Kind: notify.CeilingReachedDay, Tenant: "acme", Code: "c1", Staff: "ann", Count: 20, Limit: 20,
		At: time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC),
	}}
)

func TestANoticeIsShownInTheGroup(t *testing.T) {
	sim, s := newSender(t)
	if o := s.Send(t.Context(), group, message); o != (notify.Accepted{}) {
		t.Fatalf("Send = %#v", o)
	}
	shown := sim.RobotMessages(key)
	if len(shown) != 1 || shown[0].Type != "markdown" || shown[0].Content != message.Notice.Markdown() {
		t.Errorf("shown %+v; want the notice as markdown", shown)
	}
}

// What WeCom or the network answers, and what it means for a delivery.
func TestWhatAnAnswerMeans(t *testing.T) {
	for _, tc := range []struct {
		name string
		rule fault.Rule
		to   notify.Channels
		want notify.Outcome // without its detail
		says string
	}{
		{"too many a minute", fault.Rule{Action: fault.ErrCode, ErrCode: 45009}, group, notify.Again{Cause: reason.Throttled, After: time.Minute}, "45009"},
		{"the system is busy", fault.Rule{Action: fault.ErrCode, ErrCode: -1}, group, notify.Again{Cause: reason.Transient}, "errcode -1"},
		{"a bad gateway", fault.Rule{Action: fault.Status, Status: 502}, group, notify.Again{Cause: reason.Transient}, "http 502"},
		{"a connection that is cut", fault.Rule{Action: fault.Reset}, group, notify.Again{Cause: reason.Transient}, ""},
		{"no answer in time", fault.Rule{Action: fault.Timeout}, group, notify.Again{Cause: reason.Transient}, "deadline"},
		{"a robot that was removed", fault.Rule{API: "none"}, notify.Channels{Robot: notify.Robot{Key: "removed"}}, notify.Refused{Cause: reason.Refused}, "93000"},
		{"a message that is too long", fault.Rule{Action: fault.ErrCode, ErrCode: 40058}, group, notify.Refused{Cause: reason.Refused}, "40058"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sim, s := newSender(t)
			if _, err := sim.AddFault(tc.rule); err != nil && tc.rule.Action != "" {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			got, detail := bare(s.Send(ctx, tc.to, message))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(detail, tc.says) || len(detail) > 300 || strings.Contains(detail, tc.to.Robot.Key) {
				t.Errorf("it says %q; want %q in at most 300 bytes, without the key", detail, tc.says)
			}
		})
	}
}

// A key is part of a query, and of nothing else.
func TestAKeyIsEscaped(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.Path, r.URL.Query().Get("key"), r.URL.Query().Get("x"))
		fmt.Fprint(w, `{"errcode":0,"errmsg":"ok"}`)
	}))
	t.Cleanup(server.Close)
	s := robotchannel.New(client(t), server.URL+"/", time.Now)
	if o := s.Send(t.Context(), notify.Channels{Robot: notify.Robot{Key: "a/b&x=1#c"}}, message); o != (notify.Accepted{}) {
		t.Fatalf("Send = %#v", o)
	}
	if diff := cmp.Diff([]string{"/cgi-bin/webhook/send", "a/b&x=1#c", ""}, got); diff != "" {
		t.Error(diff)
	}
}

// Never more than 20 messages in any minute, however they come; each robot has a
// pace of its own.
func TestThePaceOfARobot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := robotchannel.New(nil, "", time.Now)
		var admitted []time.Time
		useFor := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); {
				if pause := s.Admit(group); pause > 0 {
					<-time.After(pause)
					continue
				}
				admitted = append(admitted, time.Now())
			}
		}
		useFor(5 * time.Minute)
		for _, rest := range []time.Duration{2 * time.Minute, 10 * time.Second, time.Hour} {
			<-time.After(rest)
			useFor(time.Minute)
		}
		for i := 20; i < len(admitted); i++ {
			if within := admitted[i].Sub(admitted[i-20]); within < time.Minute {
				t.Fatalf("21 messages within %s", within)
			}
		}
		if n := len(admitted); n < 8*15 || n > 8*15+4*5 {
			t.Errorf("%d messages in 8 minutes; want 15 a minute and a few bursts", n)
		}
		if pause := s.Admit(notify.Channels{Robot: notify.Robot{Key: "another"}}); pause != 0 {
			t.Errorf("another robot has to wait %s", pause)
		}
	})
}

// Asking in vain costs nothing: whoever waited as long as he was told is
// admitted.
func TestAskingInVainTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := robotchannel.New(nil, "", time.Now)
		for s.Admit(group) == 0 {
		}
		for range 100 {
			s.Admit(group)
		}
		<-time.After(s.Admit(group))
		if pause := s.Admit(group); pause != 0 {
			t.Errorf("after the wait there is another of %s", pause)
		}
	})
}

// bare is an outcome without its detail, and the detail.
func bare(o notify.Outcome) (notify.Outcome, string) {
	switch o := o.(type) {
	case notify.Again:
		detail := o.Detail
		o.Detail = ""
		return o, detail
	case notify.Refused:
		return notify.Refused{Cause: o.Cause}, o.Detail
	}
	return o, ""
}

func newSender(t *testing.T) (*wecomsim.Sim, *robotchannel.Sender) {
	t.Helper()
	sim := wecomsim.New(wecomsim.Options{})
	t.Cleanup(sim.Close)
	sim.AddRobot(key)
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(server.Close)
	return sim, robotchannel.New(client(t), server.URL, time.Now)
}

func client(t *testing.T) *grouprobot.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return grouprobot.New(grouprobot.Options{HTTP: &http.Client{Transport: transport}, Timeout: 500 * time.Millisecond})
}
