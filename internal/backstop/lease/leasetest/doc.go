// Package leasetest owns a store of leases in memory, and the conformance suite
// that it and the real one both pass.
package leasetest
