// Package operator holds what an operator is promised against the real servers:
// that an explanation is there in a moment however many codes there are, and
// that the trail which it rests on costs the refreshers next to nothing. It
// holds tests only.
package operator
