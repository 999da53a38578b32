package config

import (
	"fmt"
	"strings"
)

// Mistake is one thing wrong with the configuration.
type Mistake struct {
	Name     string // the variable; "" for a rule between several
	Value    string // as set, redacted where it may be secret; "" when not set
	Problem  string // what is wrong
	Accepted string // what would be right; "" for a rule between several
}

// String says it in one line.
func (m Mistake) String() string {
	var b strings.Builder
	b.WriteString(m.Name)
	if m.Value != "" {
		fmt.Fprintf(&b, "=%q", m.Value)
	}
	if b.Len() > 0 {
		b.WriteString(" ")
	}
	b.WriteString(m.Problem)
	if m.Accepted != "" {
		fmt.Fprintf(&b, " (accepted: %s)", m.Accepted)
	}
	return b.String()
}

// Mistakes is the error of [Load]: all that is wrong, in the order of the
// reference, then the rules between several variables.
type Mistakes struct{ List []Mistake }

// Error lists the mistakes, one a line.
func (m *Mistakes) Error() string {
	var b strings.Builder
	if len(m.List) == 1 {
		b.WriteString("the configuration has a mistake:")
	} else {
		fmt.Fprintf(&b, "the configuration has %d mistakes:", len(m.List))
	}
	for _, mistake := range m.List {
		b.WriteString("\n  " + mistake.String())
	}
	b.WriteString("\n`rollcall help env` explains every variable.")
	return b.String()
}
