// Package spot measures how many codes diverge at WeCom.
//
// It owns which codes a pass looks at, what counts as a difference between our
// record and the contact way that WeCom holds, the interval around the measured
// share, and what becomes of a difference. It refuses to own the walk over the
// codes, the pace of the calls and the push that repairs.
//
// # A verdict only about what is settled
//
// A check reads the record, then the contact way, then the record again. Only
// when nothing was under way around the look, and the facts ask for nothing that
// was not pushed yet, does a difference mean that somebody else wrote. All else
// is unsettled: it is counted apart, and neither agrees nor differs.
//
// # Deaths
//
// The order of a repair is: store the difference as repairing, mark the code
// dirty for later, let the record doubt its list, mark the code dirty for now. A
// process that dies in between leaves a difference that the next check finds
// again, or a mark whose event finds the doubt. A mark without a doubt costs one
// look, and a doubt is never without a mark.
package spot
