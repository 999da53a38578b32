package main

import (
	"strings"
	"unicode/utf8"
)

// wrapWords breaks a text into lines of at most width columns: between words,
// and within one that is longer than a line, such as a topic or a URL, behind
// a slash.
func wrapWords(text string, width int) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for _, part := range pieces(word, width) {
			switch glued := line + part.text; {
			case line == "":
				line = part.text
			case part.inside && columns(glued) <= width:
				line = glued
			case !part.inside && columns(line+" "+part.text) <= width:
				line += " " + part.text
			default:
				lines = append(lines, line)
				line = part.text
			}
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// piece is a part of a word that is not broken further.
type piece struct {
	text   string
	inside bool // belongs to the piece before it
}

// pieces returns the word, or its parts if it is longer than a line.
func pieces(word string, width int) []piece {
	if columns(word) <= width {
		return []piece{{text: word}}
	}
	var parts []piece
	for part := range strings.SplitAfterSeq(word, "/") {
		if part != "" {
			parts = append(parts, piece{text: part, inside: len(parts) > 0})
		}
	}
	return parts
}

func columns(text string) int { return utf8.RuneCountInString(text) }
