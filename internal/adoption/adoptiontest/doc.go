// Package adoptiontest has what tests of imports need: the ports in memory, and
// the contract of the stores.
package adoptiontest
