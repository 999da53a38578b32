package notify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/notify"
)

const secret = "0123456789abcdef"

// A webhook's URL, and what is wrong with it.
func TestWebhookURLs(t *testing.T) {
	for url, says := range map[string]string{
		"https://hooks.example.com":              "",
		"https://hooks.example.com:8443/a?b=c#d": "",
		"https://[2001:db8::1]/":                 "",
		"http://127.0.0.1:8080/hook":             "",
		"http://localhost:8080/hook":             "",
		"http://[::1]:8080/hook":                 "",
		"http://[::1]":                           "",
		"http://hooks.example.com/":              "not https",
		"http://127.0.0.1.example.com/":          "not https",
		"http://localhost.example.com/":          "not https",
		"http://[::1].example.com/":              "not https",
		"http://127.0.0.1@example.com/":          "names a user",
		"https://user:pass@hooks.example.com/":   "names a user",
		"https:///hook":                          "no host",
		"https://:443/hook":                      "no host",
		"https://":                               "no host",
		"ftp://hooks.example.com/":               "not https",
		"hooks.example.com":                      "no host",
		"https://hooks.example.com/a b":          "escaped",
		"https://hooks.example.com\\@evil/":      "escaped",
		"https://hooks.example.com/\n":           "escaped",
		"https://例え.jp/":                         "escaped",
		"https://a/" + strings.Repeat("x", 2048): "longer than",
	} {
		err := notify.Channels{Webhook: notify.Webhook{URL: url, Secret: secret}}.Validate()
		switch {
		case says == "" && err != nil:
			t.Errorf("%s: %v; want none", url, err)
		case says != "" && (!errors.Is(err, notify.ErrInvalidChannels) || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: %v; want one that says %q", url, err, says)
		}
	}
}

// Everything else of a tenant's channels, and what is wrong with it.
func TestChannelsAreChecked(t *testing.T) {
	hook := func(secret string) notify.Channels {
		return notify.Channels{Webhook: notify.Webhook{URL: "https://h", Secret: secret}}
	}
	for name, tc := range map[string]struct {
		channels notify.Channels
		says     []string
	}{
		"none":               {notify.Channels{}, nil},
		"both":               {notify.Channels{Webhook: hook(secret).Webhook, Robot: notify.Robot{Key: "k"}, DailyPool: 10_000, Kinds: notify.Kinds()}, nil},
		"a secret too short": {hook("short"), []string{"5 bytes"}},
		"a secret too long":  {hook(strings.Repeat("x", 257)), []string{"257 bytes"}},
		"a secret alone":     {notify.Channels{Webhook: notify.Webhook{Secret: secret}}, []string{"no host"}},
		"a robot's key":      {notify.Channels{Robot: notify.Robot{Key: "a b"}}, []string{"printable"}},
		"a robot's long key": {notify.Channels{Robot: notify.Robot{Key: strings.Repeat("x", 257)}}, []string{"256 bytes"}},
		"a pool below zero":  {notify.Channels{DailyPool: -1}, []string{"pool of -1"}},
		"a pool too large":   {notify.Channels{DailyPool: 10_001}, []string{"pool of 10001"}},
		"a kind":             {notify.Channels{Kinds: []notify.Kind{"birthday"}}, []string{`"birthday"`}},
		"everything at once": {notify.Channels{Webhook: notify.Webhook{URL: "x"}, DailyPool: -1, Kinds: []notify.Kind{""}}, []string{"no host", "0 bytes", "pool", "kind"}},
		"a webhook's password": {
			notify.Channels{Webhook: notify.Webhook{URL: "https://user:hunter2@h/?t=hunter2", Secret: "hunter2"}},
			[]string{"names a user", "7 bytes"},
		},
	} {
		err := tc.channels.Validate()
		if (err != nil) != (len(tc.says) > 0) {
			t.Errorf("%s: %v", name, err)
		}
		for _, word := range tc.says {
			if !strings.Contains(fmt.Sprint(err), word) {
				t.Errorf("%s: no %q in %v", name, word, err)
			}
		}
		if strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: the error has a secret: %v", name, err)
		}
	}
}

func TestWhichNoticesAreWanted(t *testing.T) {
	all, some := notify.Channels{}, notify.Channels{Kinds: []notify.Kind{notify.StaffResigned}}
	for _, kind := range notify.Kinds() {
		if !all.Wants(kind) || some.Wants(kind) != (kind == notify.StaffResigned) {
			t.Errorf("%s is taken for wanted: %v by default, %v by choice", kind, all.Wants(kind), some.Wants(kind))
		}
	}
}

// However channels are printed: neither secret nor key, nor the part of a URL
// that often is one.
func TestSecretsAreNotPrinted(t *testing.T) {
	channels := notify.Channels{
		Webhook: notify.Webhook{URL: "https://hooks.example.com/hunter2?t=hunter2", Secret: "hunter2-hunter2-hunter2"},
		Robot:   notify.Robot{Key: "hunter2"},
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("channels", "all", channels, "webhook", channels.Webhook, "robot", channels.Robot)
	text, err := json.Marshal(channels)
	if err != nil {
		t.Fatal(err)
	}
	printed := fmt.Sprintf("%v %+v %#v %s %q %x", channels, channels, channels, channels.Webhook, channels.Robot, channels.Webhook)
	for _, got := range []string{log.String(), string(text), printed} {
		if strings.Contains(got, "hunter2") {
			t.Errorf("a secret is printed: %s", got)
		}
		if !strings.Contains(got, "https://hooks.example.com") {
			t.Errorf("no host in %s", got)
		}
	}
	if s := fmt.Sprint(notify.Webhook{}, notify.Robot{}); strings.Contains(s, "redacted") {
		t.Errorf("no channel is printed as %q", s)
	}
}
