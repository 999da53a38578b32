package nearest

import "testing"

func TestWord(t *testing.T) {
	words := []string{"members", "backups", "switches", "on_empty", "lane"}
	for mistyped, want := range map[string]string{
		"member": "members", "bakcups": "backups", "swiches": "switches", "onempty": "on_empty", "lane": "lane",
		"price": "", "": "",
	} {
		if got := Word(mistyped, words); got != want {
			t.Errorf("Word(%q) = %q, want %q", mistyped, got, want)
		}
	}
	if got := Word("members", nil); got != "" {
		t.Errorf("of no words %q is the nearest", got)
	}
}

func TestEditDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"ca", "abc", 3},
	} {
		if got := editDistance(tc.a, tc.b); got != tc.want {
			t.Errorf("%q to %q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
