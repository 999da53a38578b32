package wecomsim

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
)

const robotKey = "robot-of-the-night-shift"

// One message each to the robot, and what it answers and shows.
func TestRobotTakesWhatItsPageSays(t *testing.T) {
	markdown := func(content string) string {
		return fmt.Sprintf(`{"msgtype":"markdown","markdown":{"content":%q}}`, content)
	}
	for _, tc := range []struct {
		name, key, body string
		want            int
		shown           string
	}{
		{"markdown", robotKey, markdown("**hello**"), 0, "**hello**"},
		{"text", robotKey, `{"msgtype":"text","text":{"content":"hello"}}`, 0, "hello"},
		{"as long as may be", robotKey, markdown(strings.Repeat("x", 4096)), 0, strings.Repeat("x", 4096)},
		{"a byte longer", robotKey, markdown(strings.Repeat("x", 4097)), 40058, ""},
		{"longer in bytes, not in characters", robotKey, markdown(strings.Repeat("多", 1400)), 40058, ""},
		{"text has less room", robotKey, `{"msgtype":"text","text":{"content":"` + strings.Repeat("x", 2049) + `"}}`, 40058, ""},
		{"nothing", robotKey, markdown(""), 40063, ""},
		{"another type", robotKey, `{"msgtype":"voice"}`, 40008, ""},
		{"no JSON", robotKey, `hello`, 47001, ""},
		{"another key", "wrong", markdown("x"), 93000, ""},
		{"no key", "", markdown("x"), 93000, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHarness(t, Options{})
			h.sim.AddRobot(robotKey)
			r := h.do(http.MethodPost, "/cgi-bin/webhook/send?key="+tc.key, tc.body)
			if r.ErrCode != tc.want {
				t.Errorf("answered %d %s; want %d", r.ErrCode, r.ErrMsg, tc.want)
			}
			var shown, want []string
			for _, m := range h.sim.RobotMessages(robotKey) {
				shown = append(shown, m.Content)
			}
			if tc.shown != "" {
				want = []string{tc.shown}
			}
			if diff := cmp.Diff(want, shown); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRobotTakesTwentyAMinute(t *testing.T) {
	h := newHarness(t, Options{})
	h.sim.AddRobot(robotKey)
	h.sim.AddRobot("another")
	send := func(key string) int {
		return h.do(http.MethodPost, "/cgi-bin/webhook/send?key="+key, `{"msgtype":"text","text":{"content":"x"}}`).ErrCode
	}
	var got []int
	for range 22 {
		got = append(got, send(robotKey))
	}
	if diff := cmp.Diff(append(make([]int, 20), 45009, 45009), got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if code := send("another"); code != 0 {
		t.Errorf("another robot answered %d; each has a minute of its own", code)
	}
	h.clock.add(time.Minute)
	if code := send(robotKey); code != 0 {
		t.Errorf("answered %d a minute later", code)
	}
	if n := len(h.sim.RobotMessages(robotKey)); n != 21 {
		t.Errorf("%d messages shown; want 21", n)
	}
	if n := h.sim.Counters().Of("webhook/send", 45009); n != 2 {
		t.Errorf("%d refusals counted; want 2", n)
	}
}

func TestRobotCanFailAsAnyCall(t *testing.T) {
	h := newHarness(t, Options{})
	h.sim.AddRobot(robotKey)
	_, err := h.sim.AddFault(fault.Rule{API: "webhook/send", Action: fault.ErrCode, ErrCode: -1, Count: 1})
	h.must(err)
	for _, want := range []int{-1, 0} {
		if r := h.do(http.MethodPost, "/cgi-bin/webhook/send?key="+robotKey, `{"msgtype":"text","text":{"content":"x"}}`); r.ErrCode != want {
			t.Errorf("answered %d; want %d", r.ErrCode, want)
		}
	}
}

func TestResetForgetsTheRobots(t *testing.T) {
	h := newHarness(t, Options{})
	h.sim.AddRobot(robotKey)
	h.sim.Reset()
	if r := h.do(http.MethodPost, "/cgi-bin/webhook/send?key="+robotKey, `{}`); r.ErrCode != 93000 {
		t.Errorf("answered %d after a reset; want 93000", r.ErrCode)
	}
}
