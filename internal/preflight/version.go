package preflight

import (
	"slices"
	"strconv"
	"strings"
)

// older reports whether a version such as 4.0.8 or 7.0.15-rc1 is older than
// another. What is no number ends it.
func older(version, than string) bool { return slices.Compare(numbers(version), numbers(than)) < 0 }

func numbers(version string) []int {
	version, _, _ = strings.Cut(version, "-")
	var all []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		all = append(all, n)
	}
	return all
}
