// Package spottest owns a store of the spot check's results in memory, and the
// conformance suite that it and the real one both pass.
package spottest
