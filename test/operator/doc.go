// Package operator proves what an operator is told, on the real parts: what an
// explanation costs with as many codes as there will be, what the trail that it
// rests on takes from a refresher, and that a day comes as rollcall plan said.
//
// It refuses to own what is explained and how a day is worked out.
package operator
