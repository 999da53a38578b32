package config

import "github.com/rollcall-dev/rollcall/internal/nearest"

// Nearest returns the candidate that a mistyped word most likely meant, or ""
// when none is near.
func Nearest(word string, candidates []string) string { return nearest.Word(word, candidates) }
