// Package audit compares what Rollcall believes of each code with the code's
// facts, without a call to the vendor.
//
// A code whose event was lost, whose refresh decides wrongly or whose rotation
// set is gone has nobody to notice it. The [Walker] passes over all codes again
// and again, in chunks that several processes share; a difference that is there
// at two looks, a freshness bound apart, makes the code dirty. The [Confirmer]
// answers the same question for single codes: may one leave the dirty set?
//
// The package refuses to own the pushing, which is the push protocol's, and what
// WeCom really holds, which only a call can tell (package spot).
package audit
