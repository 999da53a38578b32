// Package trail keeps what happened to the list of a code: who came and went
// with each push and why, what a push waited for, and who was added beyond a
// ceiling. From it a question about the past is answered: was he on the list
// then, and what was in the way of his leaving it?
//
// It owns the entries, how they get out of the way of those who make them, and
// how a list of the past follows from the list of now. It refuses to own where
// entries are kept, and it is no record: nothing is decided from it, entries may
// be missing, and what is missing shows.
package trail
