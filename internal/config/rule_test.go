package config

import (
	"reflect"
	"strings"
	"testing"
)

// Every range in the tags: its ends are accepted, its default lies within, and
// what lies just outside is refused by name.
func TestEveryRange(t *testing.T) {
	ranges := 0
	for _, f := range fields(&Config{}) {
		low, high, isRange := strings.Cut(f.tag.Get("accept"), "..")
		if !isRange {
			continue
		}
		ranges++
		t.Run(f.Name, func(t *testing.T) {
			for _, end := range []string{low, high} {
				setEnv(t, map[string]string{f.Name: end})
				if m, ok := f.load(nil); !ok {
					t.Errorf("the end of the range: %s", m)
				}
			}
			setEnv(t, map[string]string{f.Name: "-" + strings.TrimLeft(high, "0")})
			if m, ok := f.load(nil); ok || m.Problem != "is too small" {
				t.Errorf("below: %s", m)
			}
			setEnv(t, map[string]string{f.Name: "9" + high})
			if m, ok := f.load(nil); ok || m.Problem != "is too large" {
				t.Errorf("above: %s", m)
			}
		})
	}
	if ranges < 30 {
		t.Errorf("%d ranges found, want all", ranges)
	}
}

// A tag that cannot be read accepts nothing, so that a slip of ours is seen.
func TestAnUnreadableTagAcceptsNothing(t *testing.T) {
	for _, accept := range []string{"", "1..", "..9", "one..two", "any"} {
		if got := newRule(accept, reflect.TypeFor[int]()).check("5", reflect.ValueOf(5)); got != "has no readable range" {
			t.Errorf("accept %q says %q", accept, got)
		}
	}
}

// Whatever a URL looks like, its credentials are not shown.
func FuzzRedactURL(f *testing.F) {
	f.Add("mongodb://", "@host/db")
	f.Add("redis://:", "@host")
	f.Add("", "@")
	f.Add("https://host/?token=", "&x=1")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "\x00hunter2\x00"
		if !strings.Contains(before, "://") || !strings.ContainsAny(after, "@") {
			return // no credentials in it
		}
		if shown := redactURL(before + secret + after); strings.Contains(shown, secret) {
			t.Errorf("%q is shown as %q", before+secret+after, shown)
		}
	})
}
