package nearest

// Word returns the candidate that a mistyped word most likely meant, or ""
// when none is near: at most a third of the longer word may differ.
func Word(word string, candidates []string) string {
	best, bestDistance := "", 0
	for _, candidate := range candidates {
		distance := editDistance(word, candidate)
		if distance > max(len(word), len(candidate))/3 {
			continue
		}
		if best == "" || distance < bestDistance {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbors (a swap as one, the commonest slip) between two words.
func editDistance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
