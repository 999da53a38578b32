// Package letters is what an operator does to dead letters: messages that
// nobody could act on.
//
// It owns which letters may be published again, as what, and the order of the
// writes. It refuses to own where letters lie and how an event is read.
package letters
