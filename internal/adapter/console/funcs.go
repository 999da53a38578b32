package console

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/decision"
)

// funcs are what templates use, in a language.
func funcs(l lang) template.FuncMap {
	return template.FuncMap{
		"t":       l.say,
		"reason":  l.reason,
		"action":  func(a decision.Action) string { return l.action(string(a)) },
		"detail":  l.detail,
		"finding": l.finding,
		"span":    l.span,
		"stamp":   stamp,
		"day":     func(zone *time.Location, at time.Time) string { return at.In(zone).Format("01-02 15:04") },
		"iso":     func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
		"exact":   exact,
		"ago":     func(now, at time.Time) string { return l.ago(now.Sub(at)) },
		"in":      func(now, at time.Time) string { return l.ahead(at.Sub(now)) },
		"num":     num,
		"pct":     pct,
		"share":   share,
		"list":    func(all ...any) []any { return all },
		"pair":    func(a, b any) [2]any { return [2]any{a, b} },
		"join":    strings.Join,

		"tenantURL": func(tenant string) string { return root + "tenants/" + url.PathEscape(tenant) },
		"codeURL":   codeURL,
		"staffURL":  staffURL,
		"query":     query,
	}
}

// stamp is a time of the clock in a zone.
func stamp(zone *time.Location, at time.Time) string {
	return at.In(zone).Format("2006-01-02 15:04:05")
}

// exact is an instant as an address has it: two things of one second are two.
func exact(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// localTime is how a browser's field writes a time without a zone.
const localTime = "2006-01-02T15:04:05"

func codeURL(tenant, code string) string {
	return root + "tenants/" + url.PathEscape(tenant) + "/codes/" + url.PathEscape(code)
}

func staffURL(tenant, staff string) string {
	return root + "tenants/" + url.PathEscape(tenant) + "/staff?id=" + url.QueryEscape(staff)
}

// query is an address with a query: names and values in turn; those without a
// value are left out.
func query(to string, namesAndValues ...any) string {
	values := url.Values{}
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		if text := fmt.Sprint(namesAndValues[i+1]); text != "" {
			values.Set(fmt.Sprint(namesAndValues[i]), text)
		}
	}
	if len(values) == 0 {
		return to
	}
	return to + "?" + values.Encode()
}

// num writes a number with its thousands apart.
func num(n any) string {
	text := fmt.Sprint(n)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return sign + text
}

// pct is a share as a percentage.
func pct(share float64) string {
	return strings.Replace(strconv.FormatFloat(share*100, 'f', 1, 64), "-", "\u2212", 1) + "\u202f%"
}

// share is a part of a whole as a percentage 0 to 100 for a bar.
func share(part, whole any) string {
	p, w := toFloat(part), toFloat(whole)
	if w <= 0 {
		return "0"
	}
	return strconv.FormatFloat(max(0, min(100, 100*p/w)), 'f', 1, 64)
}

func toFloat(n any) float64 {
	switch n := n.(type) {
	case int:
		return float64(n)
	case int64:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// span is a length of time in at most two units.
func (l lang) span(d time.Duration) string {
	d = d.Abs()
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + l.say("unit.ms")
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + l.say("unit.s")
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + l.say("unit.s")
	case d < time.Hour:
		return two(int(d.Minutes()), l.say("unit.m"), int(d.Seconds())%60, l.say("unit.s"))
	case d < 24*time.Hour:
		return two(int(d.Hours()), l.say("unit.h"), int(d.Minutes())%60, l.say("unit.m"))
	}
	return two(int(d.Hours())/24, l.say("unit.d"), int(d.Hours())%24, l.say("unit.h"))
}

func two(n int, of string, rest int, restOf string) string {
	if rest == 0 {
		return strconv.Itoa(n) + of
	}
	return strconv.Itoa(n) + of + " " + strconv.Itoa(rest) + restOf
}

func (l lang) ago(d time.Duration) string {
	if d < time.Second {
		return l.say("time.now")
	}
	return l.say("time.ago", l.span(whole(d)))
}

func (l lang) ahead(d time.Duration) string {
	if d <= 0 {
		return l.say("time.due")
	}
	return l.say("time.in", l.span(whole(d)))
}

// whole drops what is below a second.
func whole(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Truncate(time.Second)
	}
	return d
}
