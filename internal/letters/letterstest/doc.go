// Package letterstest owns a box of dead letters and a topic in memory, and the
// conformance suite that this box and the real one both pass.
package letterstest
