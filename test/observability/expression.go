package observability

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tokenPattern splits a PromQL expression: a comment, a text in one of three
// quotes, a word (metric, function, keyword, label), a number or duration, an
// operator of two characters, white space, or a character.
var tokenPattern = regexp.MustCompile(
	"#[^\n]*" + `|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'` + "|`[^`]*`" +
		`|[A-Za-z_][A-Za-z0-9_:]*|\.?[0-9](?:[eE][+-]?[0-9]|[0-9a-zA-Z.])*|[<>=!]=|=~|!~|\s+|.`)

// durationPattern tells a duration from a number: no number ends in these units.
var durationPattern = regexp.MustCompile(`^(?:[0-9]+(?:ms|[smhdwy]))+$`)

func tokens(expr string) []string { return tokenPattern.FindAllString(expr, -1) }

// Scale is how much faster a test's time is than that of the rules.
type Scale struct {
	// Factor divides every duration; at least 1.
	Factor float64
	// Shortest bounds range selectors from below: a rate needs two samples. A
	// range that reads [5m] with a factor of 60 is 5 s.
	Shortest time.Duration
}

// Expression returns expr with its durations divided: range selectors, steps
// and offsets, and the numbers with which an age in seconds is compared. A
// histogram's bounds stay: what they measure is not scaled.
func (s Scale) Expression(expr string) string {
	parts := tokens(expr)
	out := slices.Clone(parts)
	inRange := false
	for i, part := range parts {
		switch {
		case part == "[":
			inRange = true
		case part == "]":
			inRange = false
		case durationPattern.MatchString(part):
			least := time.Millisecond
			if inRange && previous(parts, i) == "[" {
				least = s.Shortest
			}
			out[i] = prometheusDuration(max(s.duration(part), least))
		case isComparison(part) && comparesAge(parts[:i]):
			s.threshold(out, i+1)
		}
	}
	return strings.Join(out, "")
}

// Duration returns a duration as rule files write it, divided; "" stays.
func (s Scale) Duration(text string) string {
	if text == "" {
		return ""
	}
	return prometheusDuration(s.duration(text))
}

func (s Scale) duration(text string) time.Duration {
	return time.Duration(float64(parseDuration(text)) / s.Factor)
}

// threshold divides the number that follows a comparison.
func (s Scale) threshold(parts []string, from int) {
	for i := from; i < len(parts); i++ {
		if blank(parts[i]) || parts[i] == "bool" || parts[i] == "(" {
			continue
		}
		if n, err := strconv.ParseFloat(parts[i], 64); err == nil {
			parts[i] = strconv.FormatFloat(n/s.Factor, 'g', -1, 64)
		}
		return
	}
}

// previous is the last part before i that is not white space.
func previous(parts []string, i int) string {
	for i--; i >= 0; i-- {
		if !blank(parts[i]) {
			return parts[i]
		}
	}
	return ""
}

func blank(part string) bool { return strings.TrimSpace(part) == "" || strings.HasPrefix(part, "#") }

func isComparison(part string) bool {
	return slices.Contains([]string{">", "<", ">=", "<=", "==", "!="}, part)
}

// comparesAge reports whether the operand that ends here is an age: made of a
// gauge in seconds, and no slope of one. Inside a selector's braces nothing is
// compared.
func comparesAge(left []string) bool {
	depth, age := 0, false
	for i := len(left) - 1; i >= 0 && depth >= 0; i-- {
		switch part := left[i]; {
		case part == ")" || part == "]" || part == "}":
			depth++
		case part == "(" || part == "[" || part == "{":
			depth--
			if depth < 0 && part == "{" {
				return false
			}
		case depth == 0 && slices.Contains([]string{"and", "or", "unless"}, part):
			return age
		case slices.Contains([]string{"rate", "irate", "deriv", "idelta"}, part):
			return false
		case strings.HasSuffix(part, "_seconds"):
			age = true
		}
	}
	return age
}

// units of PromQL's durations.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
	"d": 24 * time.Hour, "w": 7 * 24 * time.Hour, "y": 365 * 24 * time.Hour,
}

var durationParts = regexp.MustCompile(`([0-9]+)(ms|[smhdwy])`)

// parseDuration reads what durationPattern matches; anything else is 0.
func parseDuration(text string) (sum time.Duration) {
	for _, part := range durationParts.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseInt(part[1], 10, 64)
		if err == nil {
			sum += time.Duration(n) * units[part[2]]
		}
	}
	return sum
}

// prometheusDuration writes a duration in whole milliseconds, none below one.
func prometheusDuration(d time.Duration) string {
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10) + "ms"
}

// grouping are the words that a list of labels follows.
var grouping = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}

// operators are the other words that are neither a metric nor a function.
var operators = []string{"and", "or", "unless", "bool", "offset", "start", "end", "inf", "nan", "atan2"}

// Selectors are the instant selectors of an expression, as they stand there and
// each once: a metric with its braces, or braces alone.
func Selectors(expr string) (found []string) {
	parts := slices.DeleteFunc(tokens(expr), blank)
	for i := 0; i < len(parts); i++ {
		part := parts[i]
		next := ""
		if i+1 < len(parts) {
			next = parts[i+1]
		}
		var selector string
		switch {
		case slices.Contains(grouping, strings.ToLower(part)):
			if next == "(" {
				i = closing(parts, i+1, ")")
			}
			continue
		case part == "{":
			end := closing(parts, i, "}")
			selector, i = strings.Join(parts[i:end+1], ""), end
		case !isWord(part) || next == "(" || aggregates(parts[i+1:]) || slices.Contains(operators, strings.ToLower(part)):
			continue
		case next == "{":
			end := closing(parts, i+1, "}")
			selector, i = strings.Join(parts[i:end+1], ""), end
		default:
			selector = part
		}
		if !slices.Contains(found, selector) {
			found = append(found, selector)
		}
	}
	return found
}

// aggregates reports that a grouping follows, as in `sum by (tenant) (…)`.
func aggregates(rest []string) bool {
	return len(rest) > 0 && (rest[0] == "by" || rest[0] == "without")
}

func isWord(part string) bool {
	c := part[0]
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// closing is where the bracket that opens at or after from ends; the last part
// when it does not.
func closing(parts []string, from int, end string) int {
	for i := from; i < len(parts); i++ {
		if parts[i] == end {
			return i
		}
	}
	return len(parts) - 1
}
