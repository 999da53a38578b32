// Package nearest finds the word that a mistyped one was meant to be.
//
// It owns the distance between two words and how near is near. It refuses to
// own which words there are.
package nearest
