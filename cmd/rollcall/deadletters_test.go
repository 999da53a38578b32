package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestOneDeadLetterIsShown(t *testing.T) {
	letter := letters.Letter{
		ID: "12:3:0", OriginalID: "7:9:3", Topic: "persistent://public/default/rollcall-refresh", Cause: reason.NoKey,
		Detail: "the message has no key", Payload: []byte(`{"v":1,"tenant":"acme","note":"活码"}`),
		PublishedAt: listedAt.Add(-time.Hour), BuriedAt: listedAt.Add(-time.Minute),
		Properties: map[string]string{"rollcall-cause": "no_key", "x": "\x1b[2J"},
	}
	var out strings.Builder
	if err := printDeadLetter(&out, letter, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "12:3:0", "no_key", "the message has no key", "(none)", "7:9:3", "rollcall-refresh",
		"2026-03-02T03:00:00Z, 1h0m0s ago", "property rollcall-cause", `\x1b[2J`, "payload, 39 bytes:\n"+`{"v":1,"tenant":"acme","note":"活码"}`)
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a letter reaches the terminal's controls")
	}
}

func TestPayloadsForAPerson(t *testing.T) {
	long := strings.Repeat("x", maxPayloadShown+1)
	for name, tt := range map[string]struct {
		letter letters.Letter
		want   []string
		not    string
	}{
		"none":                {letters.Letter{}, []string{"payload: none"}, ":\n"},
		"text":                {letters.Letter{Payload: []byte("a\n\tb")}, []string{"payload, 4 bytes:\na\n\tb"}, ""},
		"what is no text":     {letters.Letter{Payload: []byte{0, 'a', 0xff}}, []string{"3 bytes:\n", "00 61 ff"}, "\x00"},
		"what is no UTF-8":    {letters.Letter{Payload: []byte("a\xff")}, []string{"2 bytes:\n", "61 ff"}, "\xff"},
		"escapes":             {letters.Letter{Payload: []byte("\x1b[2J")}, []string{"1b 5b 32 4a"}, "\x1b"},
		"longer than shown":   {letters.Letter{Payload: []byte(long)}, []string{"4097 bytes, of which 4096 are shown:\nxxx"}, long},
		"cut in a character":  {letters.Letter{Payload: []byte(strings.Repeat("活", 1366))}, []string{"4098 bytes, of which 4096 are shown:\n活"}, "00000000"},
		"truncated when kept": {letters.Letter{Payload: bytes.Repeat([]byte("x"), 1<<16), Truncated: true}, []string{"the first 65536 bytes of a longer one, of which 4096"}, ""},
	} {
		got := payloadText(tt.letter)
		wantLines(t, got, tt.want...)
		if tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: %q is in:\n%s", name, tt.not, got)
		}
	}
}
