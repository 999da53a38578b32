// Package pushtest owns what the push protocol is tested with: an in-memory
// fake of each of its ports, and the conformance suites that the fakes and the
// real adapters both pass.
//
// The fakes start no goroutine and read no real clock. Every effect is
// preceded by the Step hook, so that a scheduler can run anything else at that
// point, and can be made to fail before it happens or after it has happened.
// No lock is held while a hook runs: a hook may call the fake, switch to
// another worker, or never return. The package refuses to own expectations
// about the protocol itself; those are the tests that use it.
package pushtest
