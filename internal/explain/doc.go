// Package explain answers the question that reaches support: why is this member
// on the list of this code, or why is he still, or why not?
//
// It owns how the facts, our record, the rotation set, what waits, and what WeCom
// holds are set beside each other, and the words for it. It refuses to own where
// these are read (adapters do), the rules (roster), and what differs (the audit):
// an explanation never says something else than they do.
package explain
