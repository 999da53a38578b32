package wecom_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// A secret shows in none of the ways in which a value gets into a text, neither
// by itself nor inside another value.
func TestSecretDoesNotShow(t *testing.T) {
	const hidden = "correct horse"
	type holder struct {
		Exported   wecom.Secret
		unexported wecom.Secret
	}
	value := wecom.NewSecret(hidden)
	inside := holder{value, value}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		for _, shown := range []any{value, &value, inside, &inside, []wecom.Secret{value}, map[string]wecom.Secret{"k": value}, wecom.Token{Value: value}} {
			wantHidden(t, verb, fmt.Sprintf(verb, shown), hidden)
		}
	}
	var logged bytes.Buffer
	for _, logger := range []*slog.Logger{
		slog.New(slog.NewJSONHandler(&logged, nil)), slog.New(slog.NewTextHandler(&logged, nil)),
	} {
		logger.Info("m", "secret", value, "inside", inside, "group", slog.GroupValue(slog.Any("s", value)))
	}
	wantHidden(t, "slog", logged.String(), hidden)
	encoded, err := json.Marshal(struct {
		Plain  wecom.Secret
		Inside holder
		Key    map[wecom.Secret]int
	}{value, inside, map[wecom.Secret]int{value: 1}})
	if err != nil {
		t.Fatal(err)
	}
	wantHidden(t, "json", string(encoded), hidden)
}

func wantHidden(t *testing.T, how, text, hidden string) {
	t.Helper()
	if strings.Contains(text, hidden) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", hidden)) {
		t.Errorf("%s shows it: %s", how, text)
	}
}

func TestSecretCompares(t *testing.T) {
	a, same, other := wecom.NewSecret("a"), wecom.NewSecret("a"), wecom.NewSecret("b")
	if !a.Equal(same) || a.Equal(other) || a.Equal(wecom.Secret{}) || a.Reveal() != "a" {
		t.Error("secrets compare by identity or not at all")
	}
	if !(wecom.Secret{}).Empty() || !wecom.NewSecret("").Empty() || a.Empty() {
		t.Error("an empty secret is one without text")
	}
}
