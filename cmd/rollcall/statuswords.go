package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// causes are numbers by their cause, the largest first.
func causes(by map[reason.Reason]int) string {
	order := slices.SortedFunc(maps.Keys(by), func(a, b reason.Reason) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
	var parts []string
	for n, cause := range order {
		switch {
		case by[cause] == 0:
		case n < mostCauses:
			parts = append(parts, cause.String()+" "+grouped(by[cause]))
		case n == mostCauses:
			parts = append(parts, "…")
		}
	}
	return strings.Join(parts, ", ")
}

// after puts something before a text that is not empty.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// columnsOf adds minutes up by spans of time, the last one that of now.
func columnsOf(minutes []board.Minute, now time.Time, n int, each time.Duration) (granted, refused []int) {
	granted, refused = make([]int, n), make([]int, n)
	last := now.Truncate(each)
	for _, m := range minutes {
		if column := n - 1 - int(last.Sub(m.At.Truncate(each))/each); column >= 0 && column < n {
			granted[column] += m.Granted
			refused[column] += m.Refused
		}
	}
	return granted, refused
}

// bars draws numbers beside each other, the largest as high as a line.
func bars(numbers []int) string {
	const heights = "▁▂▃▄▅▆▇█"
	steps, largest := []rune(heights), slices.Max(numbers)
	var b strings.Builder
	for _, n := range numbers {
		if n == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(steps[(n*len(steps)-1)/largest])
	}
	return b.String()
}

func total(numbers []int) int {
	n := 0
	for _, one := range numbers {
		n += one
	}
	return n
}

// shortName keeps the end of a name: what tells two pods from each other.
func shortName(name string, width int) string {
	if runes := []rune(name); len(runes) > width {
		return "…" + string(runes[len(runes)-width+1:])
	}
	return name
}

// shortVersion is a version without how it was built.
func shortVersion(version string) string {
	word, _, _ := strings.Cut(version, " ")
	if runes := []rune(word); len(runes) > 11 {
		return string(runes[:10]) + "…"
	}
	return word
}

// brief is a length of time in a few characters.
func brief(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// share is a part of 1 in percent, with as many digits as a person reads. What is
// nearly nothing, or nearly all, is not shown as that.
func share(part float64) string {
	switch p := 100 * part; {
	case p > 0 && p < 0.1:
		return "<0.1 %"
	case p > 0 && p < 10:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	case p > 99 && p < 100:
		return strconv.FormatFloat(math.Floor(10*p+1e-6)/10, 'f', 1, 64) + " %"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
}

// budgetLeft is what is left of the late pushes that may be, or how often over
// they were used.
func budgetLeft(k board.Kept) string {
	if k.BudgetLeft < 0 {
		return fmt.Sprintf("none: %.1f times used", k.Burn())
	}
	return share(k.BudgetLeft)
}

// grouped is a number with its digits in threes.
func grouped[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	var b strings.Builder
	for i, digit := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(' ')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// of is a part in percent of a whole.
func of(part, whole int) string { return share(float64(part) / float64(max(whole, 1))) }
