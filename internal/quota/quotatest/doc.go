// Package quotatest owns what the counting of additions is tested with: an
// in-memory fake of each port of package quota, and the conformance suite that
// the fake and the real store both pass.
//
// One call of a port may be several operations: a count touches two documents,
// and a process may be cut off between them. Hooks and processes are those of
// package fanouttest. The package refuses to own expectations about counting
// itself; those are the tests that use it.
package quotatest
