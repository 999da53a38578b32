package telemetry

import (
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"
)

func TestScrub(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"nothing to hide":              "nothing to hide",
		"a=1&b=2":                      "a=1&b=2",
		"errcode: 45009, from ip: ::1": "errcode: 45009, from ip: ::1",
		"https://host/path?page=2":     "https://host/path?page=2",
		`Post "https://qyapi.weixin.qq.com/cgi-bin/x?access_token=hunter2": EOF`: `Post "https://qyapi.weixin.qq.com/cgi-bin/x?access_token=[redacted]": EOF`,
		"https://h/gettoken?corpid=ww1&corpsecret=hunter2":                       "https://h/gettoken?corpid=ww1&corpsecret=[redacted]",
		"?suite_access_token=hunter2&debug=1":                                    "?suite_access_token=[redacted]&debug=1",
		"?ACCESS_TOKEN=hunter2":                                                  "?ACCESS_TOKEN=[redacted]",
		`{"errcode":0,"access_token": "hunter2","expires_in":7200}`:              `{"errcode":0,"access_token": "[redacted]","expires_in":7200}`,
		"dial mongodb://user:hunter2@db:27017/x: refused":                        "dial mongodb://[redacted]@db:27017/x: refused",
		"redis://:hunter2@r:6379":                                                "redis://[redacted]@r:6379",
		"password=hunter2 host=db":                                               "password=[redacted] host=db",
		"jsapi_ticket=hunter2, next":                                             "jsapi_ticket=[redacted], next",
		"mail someone@example.org at https://host about it":                      "mail someone@example.org at https://host about it",
	} {
		if got := Scrub(text); got != want {
			t.Errorf("Scrub(%q)\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestSecretKeys(t *testing.T) {
	for key, want := range map[string]bool{
		"access_token": true, "accessToken": true, "Access-Token": true, "token": true, "corpsecret": true, "corp_secret": true,
		"password": true, "Authorization": true, "encoding_aes_key": true, "EncodingAESKey": true, "token_key": true, "set-cookie": true,
		"tenant": false, "key": false, "tokens_left": false, "secrets": false, "msg": false, "code": false, "routing_key": false,
	} {
		if got := secretKey(key); got != want {
			t.Errorf("%s is taken for a secret: %t, want %t", key, got, want)
		}
	}
}

// Whatever the attribute is made of.
func TestScrubAttr(t *testing.T) {
	withPassword, err := url.Parse("redis://:hunter2@host")
	if err != nil {
		t.Fatal(err)
	}
	cause := &url.Error{Op: "Post", URL: "https://h/x?access_token=hunter2", Err: errors.New("EOF")}
	for _, attr := range []slog.Attr{
		slog.String("corpsecret", "hunter2"),
		slog.Any("token", []byte("hunter2")),
		slog.String("msg", "asked https://h/x?access_token=hunter2"),
		slog.Any("error", cause),
		slog.Any("url", withPassword),
	} {
		if got := scrubAttr(nil, attr).String(); strings.Contains(got, "hunter2") {
			t.Errorf("%s shows %s", attr.Key, got)
		}
	}
	if got := scrubAttr([]string{"db", "password"}, slog.String("first", "hunter2")); got.Value.String() != "[redacted]" {
		t.Errorf("in a secret group: %s", got)
	}
}

// An attribute without a secret stays what it is, so that JSON keeps its type.
func TestScrubAttrLeavesTheRest(t *testing.T) {
	harmless := errors.New("errcode: 45009")
	for _, attr := range []slog.Attr{
		slog.Int("held", 3), slog.Any("error", harmless), slog.Any("list", &[]string{"a"}), slog.String("code", "c1"), slog.Bool("x", true),
	} {
		if got := scrubAttr(nil, attr); !got.Equal(attr) {
			t.Errorf("%v became %v", attr, got)
		}
	}
}
