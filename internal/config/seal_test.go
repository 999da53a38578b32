package config

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func encodedSealKey(text string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(text, 32)[:32]))
}

func TestSealKeys(t *testing.T) {
	setEnv(t, map[string]string{"ROLLCALL_SEAL_KEYS": "2026b:" + encodedSealKey("b") + ",2026a:" + encodedSealKey("a")})
	cfg, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2026b", "2026a"}, cfg.Seal.Keys.Ring().IDs()); diff != "" {
		t.Errorf("key IDs (-want +got):\n%s", diff)
	}
	setEnv(t, nil)
	if cfg, err = Load(); err != nil || cfg.Seal.Keys.Ring().Sealing() != "" {
		t.Errorf("unset: %v, %v; want no key", cfg.Seal.Keys.Ring(), err)
	}
}

// The line an operator reads; a key is not in it, wherever he put it.
func TestMistakesInSealKeys(t *testing.T) {
	const accepted = " (accepted: id:key,id:key with 32 bytes in base64 each (openssl rand -base64 32))"
	good := encodedSealKey("hunter2")
	for value, want := range map[string]string{
		good:                       "key 1 is not an ID, a colon and a key",
		good + ":2026a":            "key 1 is not an ID, a colon and a key",
		"2026a:" + good + ",":      "key 2 is not an ID, a colon and a key",
		"2026a:hunter2!":           `the key with ID "2026a" is not base64`,
		"2026a:aHVudGVyMg==":       `the key with ID "2026a" does not hold 32 bytes`,
		"a:" + good + ",b:" + good: `"a" and "b" are the same key`,
	} {
		setEnv(t, map[string]string{"ROLLCALL_SEAL_KEYS": value})
		_, err := Load()
		line := `ROLLCALL_SEAL_KEYS="[redacted]" is not a list of keys: ` + want + accepted
		if err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%v, want %s", err, line)
		}
	}
}

func TestNoSealKeyIsPrinted(t *testing.T) {
	setEnv(t, map[string]string{"ROLLCALL_SEAL_KEYS": "2026a:" + encodedSealKey("hunter2")})
	cfg, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("start", "keys", cfg.Seal.Keys, "all", cfg)
	all := []string{string(encoded), logged.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		all = append(all, fmt.Sprintf(verb, cfg), fmt.Sprintf(verb, cfg.Seal.Keys))
	}
	for _, text := range all {
		for _, secret := range []string{"hunter2", "aHVudGVy", "68756e746572", "104 117"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is seen in %s", secret, text)
			}
		}
	}
}
