// Package roster decides who belongs on the list of a live QR code.
//
// It owns the facts of a code as values, the pure function Decide that turns
// them into a Verdict, work schedules and lanes. It refuses to own input or
// output of any kind: no driver, no clock, no randomness. The same facts at
// the same instant always give the same verdict, on every instance and years
// later in an explanation.
//
// The one thing it reads that is not passed in is the time zone database, and
// it remembers the zones it has read. A binary should embed time/tzdata so
// that every instance has the same one.
package roster
