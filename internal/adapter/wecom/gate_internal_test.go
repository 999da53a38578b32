package wecom

import (
	"errors"
	"io"
	"sync"
	"testing"
)

// What passed the gate decides, whichever of reading and giving up is first.
func TestGate(t *testing.T) {
	late := errors.New("late")
	for _, test := range []struct {
		name   string
		late   []error // for each reading
		steps  string  // r: a body is read; s: the call is given up
		read   []string
		passed bool
	}{
		{name: "given up unread", steps: "s"},
		{name: "read, then given up", steps: "rs", read: []string{"body"}, passed: true},
		{name: "given up, then read", steps: "sr", read: []string{""}},
		{name: "given up twice", steps: "rss", read: []string{"body"}, passed: true},
		{name: "late", late: []error{late}, steps: "rs", read: []string{""}},
		{name: "replayed", steps: "rrs", read: []string{"body", "body"}, passed: true},
		{name: "replayed when it is late", late: []error{nil, late}, steps: "rrs", read: []string{"body", ""}, passed: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked int
			g := &gate{late: func() error {
				asked++
				if asked <= len(test.late) {
					return test.late[asked-1]
				}
				return nil
			}}
			var read []string
			var passed bool
			for _, step := range test.steps {
				if step == 's' {
					passed = g.shut()
					continue
				}
				text, _ := io.ReadAll(g.body([]byte("body")))
				read = append(read, string(text))
			}
			if passed != test.passed || len(read) != len(test.read) {
				t.Fatalf("passed %t, want %t; read %q", passed, test.passed, read)
			}
			for i := range read {
				if read[i] != test.read[i] {
					t.Errorf("reading %d gave %q, want %q", i, read[i], test.read[i])
				}
			}
		})
	}
}

// A transport that reads while the call is given up: either a byte passed and
// shut says so, or none did and none will.
func TestGateRace(t *testing.T) {
	for range 1000 {
		g := &gate{late: func() error { return nil }}
		var read []byte
		var reading sync.WaitGroup
		reading.Go(func() { read, _ = io.ReadAll(g.body([]byte("body"))) })
		passed := g.shut()
		reading.Wait()
		if passed != (len(read) > 0) {
			t.Fatalf("passed %t, %d bytes read", passed, len(read))
		}
	}
}

func TestMessage(t *testing.T) {
	long := make([]byte, 3*maxMessage)
	for i := range long {
		long[i] = "好"[i%3]
	}
	for name, test := range map[string]struct{ in, want string }{
		"as it is":      {"api freq out of limit, hint: [1], from ip: 192.0.2.1", "api freq out of limit, hint: [1], from ip: 192.0.2.1"},
		"one line":      {"a\r\nb\x00c", "a  b c"},
		"valid UTF-8":   {"a\xffb", "a?b"},
		"a secret":      {"token T/1 or T%2F1", "token [redacted] or [redacted]"},
		"a query":       {"GET /x?access_token=abc&y=1", "GET /x?access_token=[redacted]&y=1"},
		"other secrets": {"corpSecret=abc def", "corpSecret=[redacted] def"},
		"too long":      {string(long), string(long[:510]) + "…"},
	} {
		if got := message(test.in, []Secret{NewSecret("T/1"), {}}); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestRefusalDelayIsBounded(t *testing.T) {
	tokens := &Tokens{options: TokensOptions{}.withDefaults(nil)}
	for _, streak := range []int{7, 64, 1 << 30} {
		if got := tokens.refusalDelay(streak); got != tokens.options.MaxRefusalDelay {
			t.Errorf("streak %d: %v", streak, got)
		}
	}
}
