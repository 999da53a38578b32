package alert

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxNamed is how many of the others a message names.
const maxNamed = 20

// render is one message about alerts of one kind: the oldest in full, the
// others by name.
func render(batch []notice, dropped int) string {
	var b strings.Builder
	first := batch[0]
	b.WriteString(first.Text)
	if first.merged > 0 {
		fmt.Fprintf(&b, "\n> %d more like this since %s", first.merged, first.since.UTC().Format("15:04:05 UTC"))
	}
	if others := batch[1:]; len(others) > 0 {
		fmt.Fprintf(&b, "\n> The same for %d more: %s", len(others), names(others))
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "\n> %d other alerts were dropped, too many at once; rollcall_alerts_total counts them by kind", dropped)
	}
	return b.String()
}

func names(others []notice) string {
	shown := make([]string, 0, maxNamed+1)
	for i, n := range others {
		if i == maxNamed {
			shown = append(shown, "…")
			break
		}
		name := plain(strings.Trim(n.Tenant+" "+n.Subject, " "))
		if n.merged > 0 {
			name += fmt.Sprintf(" (%d times)", n.merged+1)
		}
		shown = append(shown, name)
	}
	return strings.Join(shown, ", ")
}

// shorten cuts a text to so many bytes, at the end of a character.
func shorten(text string, most int) string {
	const mark = "…"
	if len(text) <= most {
		return text
	}
	cut := max(most-len(mark), 0)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}

// maxPlain bounds what is quoted from elsewhere, in bytes.
const maxPlain = 300

// plain makes a text from elsewhere fit to be quoted: one line, nothing that
// WeCom's markdown would take for a mark-up or a mention, bounded.
func plain(text string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f:
			return ' '
		case strings.ContainsRune("`*[]<>#", r):
			return '\''
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return shorten(clean, maxPlain)
}
