// Package roster decides who belongs on the list of a live QR code.
//
// It owns the facts of a code as values, the pure function Decide that turns
// them into a Verdict, work schedules and lanes. It refuses to own input or
// output of any kind: no driver, no clock, no randomness. The same facts at
// the same instant always give the same verdict, on every instance and years
// later in an explanation.
package roster
