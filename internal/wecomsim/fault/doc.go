// Package fault is the script of what goes wrong at the vendor.
//
// It owns the choice of the rule that hits a call: by API, corp, contact way
// or member, so many times or with a probability, repeatable from a seed. It
// refuses to own how a fault is carried out: that is the simulator's part.
package fault
