// Package fanouttest owns what fan-outs are tested with: an in-memory fake of
// each port of package fanout, processes that can be cut off at any call of
// one, and the conformance suite that the fakes and the real store both pass.
//
// The fakes start no goroutine and read no clock but the topic's, which notes
// when an event was stored. No lock is held while a hook runs. The package
// refuses to own expectations about runs; those are the tests that use it.
package fanouttest
