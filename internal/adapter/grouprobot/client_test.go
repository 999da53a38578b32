package grouprobot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/adapter/grouprobot"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "k3y-0f-the-robot"

func TestAMessageIsShownInTheGroup(t *testing.T) {
	sim, to := newSim(t)
	const text = "**hello** <font color=\"warning\">多</font>\n> line & more"
	if err := newClient(t).SendMarkdown(t.Context(), to, text); err != nil {
		t.Fatal(err)
	}
	shown := sim.RobotMessages(key)
	if len(shown) != 1 || shown[0].Type != "markdown" || shown[0].Content != text {
		t.Errorf("shown %+v; want the text as markdown", shown)
	}
}

// What can go wrong, and what a caller can tell of it.
func TestFailuresAreToldApart(t *testing.T) {
	for _, tc := range []struct {
		name    string
		prepare func(*wecomsim.Sim)
		key     string
		text    string
		want    error // nil: any
		says    string
	}{
		{name: "a text that is too long", text: strings.Repeat("多", 1366), want: grouprobot.ErrTooLong, says: "4098 bytes"},
		{name: "a robot that was removed", key: "removed", want: grouprobot.ErrUnknownRobot, says: "93000"},
		{name: "an empty text", text: "", says: "40063"},
		{name: "too many a minute", text: "x", prepare: script(fault.Rule{Action: fault.ErrCode, ErrCode: 45009}), want: grouprobot.ErrThrottled, says: "45009"},
		{name: "a bad gateway", text: "x", prepare: script(fault.Rule{Action: fault.Status, Status: 502}), says: "http 502"},
		{name: "a connection that is cut", text: "x", prepare: script(fault.Rule{Action: fault.Reset})},
		{name: "no answer in time", text: "x", prepare: script(fault.Rule{Action: fault.Timeout}), want: context.DeadlineExceeded},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sim, to := newSim(t)
			if tc.prepare != nil {
				tc.prepare(sim)
			}
			if tc.key != "" {
				to, tc.text = webhook(t, strings.Replace(address(t, sim), key, tc.key, 1)), "x"
			}
			err := newClient(t).SendMarkdown(t.Context(), to, tc.text)
			if err == nil || (tc.want != nil && !errors.Is(err, tc.want)) || !strings.Contains(fmt.Sprint(err), tc.says) {
				t.Errorf("SendMarkdown() = %v; want %v, saying %q", err, tc.want, tc.says)
			}
			for _, other := range []error{grouprobot.ErrTooLong, grouprobot.ErrUnknownRobot, grouprobot.ErrThrottled, grouprobot.ErrAnswer} {
				if !errors.Is(other, tc.want) && errors.Is(err, other) {
					t.Errorf("%v is taken for %v as well", err, other)
				}
			}
		})
	}
}

// What is not WeCom is not believed.
func TestOtherAnswersAreNone(t *testing.T) {
	for name, answer := range map[string]string{
		"a page":               "<html>log in</html>",
		"JSON of another kind": `{"ok":true}`,
		"far too much":         `{"errcode":0,"errmsg":"` + strings.Repeat("x", 1<<20) + `"}`,
		"nothing":              "",
	} {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
		if err := newClient(t).SendMarkdown(t.Context(), webhook(t, server+"?key="+key), "x"); !errors.Is(err, grouprobot.ErrAnswer) {
			t.Errorf("%s: %v; want ErrAnswer", name, err)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	followed := false
	other := serve(t, func(http.ResponseWriter, *http.Request) { followed = true })
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other+"?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
	})
	err := newClient(t).SendMarkdown(t.Context(), webhook(t, server+"?key="+key), "x")
	var refusal *grouprobot.Refusal
	if !errors.As(err, &refusal) || refusal.HTTPStatus != http.StatusTemporaryRedirect || followed {
		t.Errorf("SendMarkdown() = %v, followed %v; want a refusal with the status", err, followed)
	}
}

func TestNoRobotIsAnError(t *testing.T) {
	if err := newClient(t).SendMarkdown(t.Context(), grouprobot.Webhook{}, "x"); !errors.Is(err, grouprobot.ErrUnknownRobot) {
		t.Errorf("SendMarkdown() = %v; want ErrUnknownRobot", err)
	}
}

// Whatever fails, and whoever repeats it: the key is nowhere.
func TestTheKeyIsNowhere(t *testing.T) {
	echo := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"errmsg": "bad " + r.URL.String() + " and " + r.URL.Query().Get("key"), "errcode": ""})
	})
	refuse := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"errcode":93000,"errmsg":%q}`, "invalid "+r.URL.String())
	})
	broken := func(string) *http.Client { return &http.Client{Transport: leaky{}} }
	for name, tc := range map[string]struct {
		url    string
		client *http.Client
	}{
		"nobody listens":           {url: "http://" + deadAddress(t) + "/cgi-bin/webhook/send?key=" + key},
		"the answer repeats it":    {url: refuse + "/cgi-bin/webhook/send?key=" + key},
		"the answer is odd":        {url: echo + "/cgi-bin/webhook/send?key=" + key},
		"the transport repeats it": {url: "http://x/cgi-bin/webhook/send?key=" + key, client: broken(key)},
		"it has to be escaped":     {url: refuse + "?key=" + url.QueryEscape("a b/c+"+key)},
		"a password beside it":     {url: "http://user:" + key + "@" + deadAddress(t) + "/?key=" + key},
	} {
		t.Run(name, func(t *testing.T) {
			spans := tracetest.NewSpanRecorder()
			client := grouprobot.New(grouprobot.Options{
				HTTP: tc.client, Timeout: 2 * time.Second,
				TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)),
			})
			to := webhook(t, tc.url)
			err := client.SendMarkdown(t.Context(), to, "x")
			if err == nil {
				t.Fatal("no error")
			}
			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Error("failed", "error", err, "to", to, "struct", struct{ W grouprobot.Webhook }{to})
			var traced strings.Builder
			for _, s := range spans.Ended() {
				fmt.Fprintf(&traced, "%s %v %v %v\n", s.Name(), s.Attributes(), s.Status(), s.Events())
			}
			if traced.Len() == 0 {
				t.Error("no span")
			}
			for where, text := range map[string]string{"the error": fmt.Sprintf("%v %+v %#v", err, err, err), "the log": log.String(), "the trace": traced.String()} {
				if strings.Contains(text, key) {
					t.Errorf("%s has the key: %s", where, text)
				}
			}
		})
	}
}

func TestWebhooksAreCheckedAndHideTheirKey(t *testing.T) {
	for _, bad := range []string{"", "ftp://host/?key=" + key, "https:///send?key=" + key, "https://host/send", "https://host/send?key=", "http://ho st/?key=" + key, "%zz" + key} {
		if _, err := grouprobot.ParseWebhook(bad); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("ParseWebhook(%q) = %v; want an error without the key", bad, err)
		}
	}
	to := webhook(t, "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key="+key)
	const want = "https://qyapi.weixin.qq.com/cgi-bin/webhook/send"
	text, err := json.Marshal(to)
	if fmt.Sprintf("%s|%v|%q|%#v", to, to, to, to) != strings.Join([]string{want, want, want, want}, "|") || string(text) != `"`+want+`"` || err != nil {
		t.Errorf("printed as %s %q %#v and %s (%v)", to, to, to, text, err)
	}
	if (grouprobot.Webhook{}).Set() || !to.Set() {
		t.Error("Set does not tell a robot from none")
	}
}

// leaky fails with the whole URL in a text of its own.
type leaky struct{}

func (leaky) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("cannot reach %s", r.URL)
}

func script(rule fault.Rule) func(*wecomsim.Sim) {
	return func(sim *wecomsim.Sim) { _, _ = sim.AddFault(rule) } // a refused rule lets the message pass, and the test fail
}

func newClient(t *testing.T) *grouprobot.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return grouprobot.New(grouprobot.Options{HTTP: &http.Client{Transport: transport}, Timeout: 500 * time.Millisecond})
}

// newSim returns a WeCom with one robot, and that robot.
func newSim(t *testing.T) (*wecomsim.Sim, grouprobot.Webhook) {
	t.Helper()
	sim := wecomsim.New(wecomsim.Options{})
	t.Cleanup(sim.Close)
	sim.AddRobot(key)
	return sim, webhook(t, address(t, sim))
}

func address(t *testing.T, sim *wecomsim.Sim) string {
	return serve(t, sim.Handler().ServeHTTP) + "/cgi-bin/webhook/send?key=" + key
}

func webhook(t *testing.T, text string) grouprobot.Webhook {
	t.Helper()
	to, err := grouprobot.ParseWebhook(text)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func serve(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server.URL
}

// deadAddress is one that nobody listens at.
func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
