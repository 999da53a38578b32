package seal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/seal"
)

const about = "tenant acme credentials.secret"

// A key is replaced without a moment in which something cannot be read.
func TestRotation(t *testing.T) {
	before, during, after := ring(t, "a"), ring(t, "b", "a"), ring(t, "b")
	old := sealed(t, before, "hunter2")
	wantOpens(t, before, old, "hunter2")
	wantOpens(t, during, old, "hunter2")
	renewed := sealed(t, during, "hunter2")
	if id, ok := seal.KeyID(renewed); id != "b" || !ok {
		t.Errorf("sealed with %q; want the first key", id)
	}
	wantOpens(t, during, renewed, "hunter2")
	wantOpens(t, after, renewed, "hunter2")
	if _, err := after.Open(old, about); !errors.Is(err, seal.ErrMissingKey) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("without the old key: %v; want %v and its ID", err, seal.ErrMissingKey)
	}
}

func TestTheSameSecretNeverLooksTheSame(t *testing.T) {
	keys := ring(t, "a")
	first, second := sealed(t, keys, "hunter2"), sealed(t, keys, "hunter2")
	if first == second {
		t.Error("two sealings of one secret are equal: whoever reads them learns that the secrets are")
	}
	for _, plain := range []string{"", "x", strings.Repeat("long", 5000), "日本\x00"} {
		wantOpens(t, keys, sealed(t, keys, plain), plain)
	}
}

// Whoever can write to the store can neither move a secret nor change one.
func TestWhatDoesNotOpen(t *testing.T) {
	keys := ring(t, "a")
	text := sealed(t, keys, "hunter2")
	last := text[len(text)-1:]
	changed := strings.TrimSuffix(text, last) + map[bool]string{true: "B", false: "A"}[last == "A"]
	for _, tc := range []struct {
		name  string
		text  string
		about string
		want  error
	}{
		{"another tenant", text, "tenant globex credentials.secret", seal.ErrRefused},
		{"another field", text, "tenant acme callback.token", seal.ErrRefused},
		{"a changed character", changed, about, nil},
		{"one key under two IDs", strings.Replace(text, "sealed:v1:a:", "sealed:v1:b:", 1), about, seal.ErrMissingKey},
		{"cut", text[:len(text)-4], about, nil},
		{"cut within the nonce", "sealed:v1:a:AAAA", about, seal.ErrMalformed},
		{"not base64", "sealed:v1:a:!", about, seal.ErrMalformed},
		{"a later version", strings.Replace(text, "v1", "v2", 1), about, seal.ErrMalformed},
		{"no key ID", "sealed:v1::AAAA", about, seal.ErrMalformed},
		{"no box", "sealed:v1:a", about, seal.ErrMalformed},
		{"not sealed", "hunter2", about, seal.ErrMalformed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := keys.Open(tc.text, tc.about)
			if err == nil || got != "" {
				t.Fatalf("it opens to %q", got)
			}
			if tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), text[20:]) {
				t.Errorf("the error repeats the text: %v", err)
			}
		})
	}
	if _, err := otherRing(t, "a").Open(text, about); !errors.Is(err, seal.ErrRefused) {
		t.Errorf("another key of the same ID: %v, want %v", err, seal.ErrRefused)
	}
}

func TestARingWithoutKeys(t *testing.T) {
	text := sealed(t, ring(t, "a"), "hunter2")
	for name, empty := range map[string]*seal.Keyring{"nil": nil, "zero": {}} {
		if got, err := empty.Seal("hunter2", about); !errors.Is(err, seal.ErrNoKeys) || got != "" {
			t.Errorf("%s: Seal = %q, %v; want %v", name, got, err, seal.ErrNoKeys)
		}
		if _, err := empty.Open(text, about); !errors.Is(err, seal.ErrMissingKey) {
			t.Errorf("%s: Open = %v; want %v", name, err, seal.ErrMissingKey)
		}
		if empty.Sealing() != "" || len(empty.IDs()) != 0 {
			t.Errorf("%s has keys", name)
		}
	}
}

func TestIsSealed(t *testing.T) {
	for text, want := range map[string]bool{
		sealed(t, ring(t, "a"), "x"): true,
		"sealed:v9:whatever":         true, // of a later build: not to be taken for a secret
		"hunter2":                    false,
		"":                           false,
		"xsealed:v1:a:AAAA":          false,
	} {
		if got := seal.IsSealed(text); got != want {
			t.Errorf("IsSealed(%q) = %v", text, got)
		}
	}
	if _, ok := seal.KeyID("hunter2"); ok {
		t.Error("a plain text has a key ID")
	}
}

func TestParseKeys(t *testing.T) {
	good, other := encodedKey(1), encodedKey(2)
	keys, err := seal.ParseKeys("2026b:" + good + ", 2026a:" + other)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2026b", "2026a"}, keys.IDs()); diff != "" || keys.Sealing() != "2026b" {
		t.Errorf("IDs (-want +got):\n%s", diff)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "key 1 is not an ID, a colon and a key"},
		{"a key without an ID", good, "key 1 is not an ID, a colon and a key"},
		{"an empty ID", ":" + good, "key 1 is not an ID, a colon and a key"},
		{"ID and key swapped", good + ":2026a", "key 1 is not an ID, a colon and a key"},
		{"a comma at the end", "a:" + good + ",", "key 2 is not an ID, a colon and a key"},
		{"a space in the ID", "2026 a:" + good, "key 1 is not an ID, a colon and a key"},
		{"too long an ID", strings.Repeat("i", 33) + ":" + good, "key 1 is not an ID, a colon and a key"},
		{"not base64", "2026a:hunter2hunter2!", `the key with ID "2026a" is not base64`},
		{"too short", "2026a:aHVudGVyMg==", `the key with ID "2026a" does not hold 32 bytes`},
		{"an ID twice", "a:" + good + ",a:" + other, `the ID "a" is there twice`},
		{"a key twice", "a:" + good + ",b:" + good, `"a" and "b" are the same key`},
	} {
		_, err := seal.ParseKeys(tc.text)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestGenerate(t *testing.T) {
	first, second := seal.Generate("b"), seal.Generate("a")
	keys, err := seal.ParseKeys(first + "," + second)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "a"}, keys.IDs()); diff != "" {
		t.Errorf("IDs (-want +got):\n%s", diff)
	}
}

// However a ring is printed, alone or in a struct, no key is seen.
func TestNoKeyIsPrinted(t *testing.T) {
	raw := bytes.Repeat([]byte("hunter2!"), 4)
	keys, err := seal.ParseKeys("2026a:" + base64.StdEncoding.EncodeToString(raw))
	if err != nil {
		t.Fatal(err)
	}
	holder := struct {
		Keys *seal.Keyring
		Ring seal.Keyring
	}{keys, *keys}
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("start", "keys", keys, "ring", *keys, "all", holder)
	printed := []string{string(encoded), logged.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		printed = append(printed, fmt.Sprintf(verb, keys), fmt.Sprintf(verb, *keys), fmt.Sprintf(verb, holder))
	}
	for _, text := range printed {
		for _, secret := range []string{"hunter2", "aHVudGVy", "68756e746572", "104 117", "104, 117"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is seen in %s", secret, text)
			}
		}
	}
	if got, want := fmt.Sprint(keys), "keys [2026a]"; got != want {
		t.Errorf("printed as %s, want %s: an operator has to see which", got, want)
	}
}

// FuzzOpen: no text that is not of the ring opens, and none panics.
func FuzzOpen(f *testing.F) {
	keys := ring(f, "a")
	genuine := sealed(f, keys, "hunter2")
	for _, text := range []string{genuine, "", "sealed:v1:a:", "sealed:v1:a:AAAA", "sealed:v1:b:AAAA"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := keys.Open(text, about); err == nil && text != genuine {
			t.Errorf("%q opens", text)
		}
	})
}

func ring(tb testing.TB, ids ...string) *seal.Keyring {
	tb.Helper()
	return ringOf(tb, 0, ids)
}

// otherRing has other keys under the same IDs.
func otherRing(tb testing.TB, ids ...string) *seal.Keyring {
	tb.Helper()
	return ringOf(tb, 100, ids)
}

func ringOf(tb testing.TB, salt byte, ids []string) *seal.Keyring {
	tb.Helper()
	var entries []string
	for _, id := range ids {
		entries = append(entries, id+":"+encodedKey(salt+id[0]))
	}
	keys, err := seal.ParseKeys(strings.Join(entries, ","))
	if err != nil {
		tb.Fatal(err)
	}
	return keys
}

func encodedKey(fill byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, seal.KeySize))
}

func sealed(tb testing.TB, keys *seal.Keyring, plain string) string {
	tb.Helper()
	text, err := keys.Seal(plain, about)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func wantOpens(tb testing.TB, keys *seal.Keyring, text, want string) {
	tb.Helper()
	if got, err := keys.Open(text, about); got != want || err != nil {
		tb.Errorf("opens to %q, %v; want %q", got, err, want)
	}
}
