package notify

import (
	"fmt"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/alert"
)

// titles are a notice in one line.
var titles = map[Kind]string{
	CeilingReachedCode:    "A staff member has reached the ceiling of a code",
	CeilingReachedDay:     "A staff member has reached the day's ceiling of a code",
	CeilingReachedCompany: "A staff member has reached the day's ceiling over all codes",
	StaffResigned:         "A staff member has resigned and leaves all codes",
	MemberQuarantined:     "WeCom does not let a staff member take customers; he leaves all codes",
	CodeNobodyLeft:        "Nobody on a code can take customers; it keeps its last list",
	TenantSuspended:       "WeCom refuses the company's credentials; no code is changed until they are mended",
}

// Text is the notice in words, one line for a log or a mail.
func (n Notice) Text() string {
	var b strings.Builder
	b.WriteString(titles[n.Kind])
	for i, line := range n.lines() {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		fmt.Fprintf(&b, "%s%s %s", separator, line[0], strings.Join(strings.Fields(line[1]), " "))
	}
	return b.String()
}

// Markdown is the notice for a WeCom group, at most 2000 bytes.
func (n Notice) Markdown() string {
	var words []string
	for _, line := range n.lines() {
		words = append(words, line[0], line[1])
	}
	return alert.Markdown(titles[n.Kind], words...)
}

func (n Notice) lines() [][2]string {
	var lines [][2]string
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, [2]string{name, value})
		}
	}
	add("staff", n.Staff)
	add("code", n.Code)
	if n.Limit > 0 {
		add("additions", fmt.Sprintf("%d of %d", n.Count, n.Limit))
	}
	add("day", string(n.Day))
	add("at", n.At.UTC().Format("2006-01-02 15:04:05 UTC"))
	return lines
}
