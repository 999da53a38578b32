// Package registrytest has a store of facts and of answers in memory, and the
// suites that every implementation of registry's stores passes.
package registrytest
