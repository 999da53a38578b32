// Package shadowtest owns the store of shadows in memory, and the conformance
// suites that it and the real one both pass.
package shadowtest
