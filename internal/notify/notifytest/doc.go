// Package notifytest owns the stores of notifications in memory, and the
// conformance suites that they and the real ones both pass.
package notifytest
