package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// However a configuration is printed, no secret is seen.
func TestNoSecretIsPrinted(t *testing.T) {
	setEnv(t, map[string]string{
		"ROLLCALL_PULSAR_TOKEN":    "hunter2",
		"ROLLCALL_MONGODB_URI":     "mongodb://user:hunter2@db/?authMechanismProperties=TOKEN:hunter2",
		"ROLLCALL_REDIS_URL":       "redis://:hunter2@redis",
		"ROLLCALL_WECOM_TOKEN_KEY": "aHVudGVyMmh1bnRlcjJodW50ZXIyaHVudGVyMmh1bnQ=", // hunter2 again and again
	})
	cfg, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	log.Info("start", "token", cfg.Pulsar.Token, "uri", cfg.MongoDB.URI, "key", cfg.WeCom.TokenKey, "all", cfg)
	for form, text := range map[string]string{
		"%v":   fmt.Sprintf("%v", cfg),
		"%+v":  fmt.Sprintf("%+v", cfg),
		"%#v":  fmt.Sprintf("%#v", cfg),
		"%s":   fmt.Sprintf("%s %s %s", cfg.Pulsar.Token, cfg.MongoDB.URI, cfg.WeCom.TokenKey),
		"%q":   fmt.Sprintf("%q %q %q", cfg.Pulsar.Token, cfg.MongoDB.URI, cfg.WeCom.TokenKey),
		"%x":   fmt.Sprintf("%x", cfg.WeCom.TokenKey),
		"json": string(encoded),
		"slog": logged.String(),
	} {
		for _, secret := range []string{"hunter2", "aHVudGVy", "68756e746572", "104, 117"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %q: %s", form, secret, text)
			}
		}
	}
	if got, want := cfg.MongoDB.URI.String(), "mongodb://[redacted]@db/?[redacted]"; got != want {
		t.Errorf("%s, want %s: an operator has to see which host", got, want)
	}
}

func TestRedactURL(t *testing.T) {
	for url, want := range map[string]string{
		"":                         "",
		"no-url":                   "[redacted]",
		"redis://host:6379/0":      "redis://host:6379/0",
		"redis://u:p@host":         "redis://[redacted]@host",
		"redis://u:p/@?w@host":     "redis://[redacted]@host", // a password that was not escaped
		"mongodb://a,b/db?w=1#x@y": "mongodb://[redacted]@y",  // rather too much than too little
		"mongodb://a,b/db?w=1":     "mongodb://a,b/db?[redacted]",
	} {
		if got := redactURL(url); got != want {
			t.Errorf("%s is shown as %s, want %s", url, got, want)
		}
	}
}

func TestSetAndReveal(t *testing.T) {
	if s := NewSecret("x"); !s.Set() || s.Reveal() != "x" || (Secret{}).Set() || (Secret{}).String() != "" {
		t.Errorf("secret %v", s)
	}
	if u := NewSecretURL("redis://h"); !u.Set() || u.Reveal() != "redis://h" || (SecretURL{}).Set() {
		t.Errorf("URL %v", u)
	}
}
