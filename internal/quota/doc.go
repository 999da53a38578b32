// Package quota turns what WeCom tells of customers and staff into facts.
//
// It owns the additions: which events are one addition, that each is counted
// exactly once, and what follows when a ceiling is reached: the mark, the
// fan-out and the notice. It refuses to own the wire (signatures, XML) and what
// a list becomes: it writes facts and gives reasons to recompute, like any
// producer.
//
// # Exactly once
//
// An addition touches documents of its own: the contact, the code's counters,
// the staff member's. There is no transaction over them, and the process may
// die between any two writes. So the contact says what has to be counted
// before it is counted, in the same conditional write that takes the event in;
// each counter remembers the additions it has counted and refuses one that it
// knows; and the contact says that the addition is done only after everything
// that follows from it is durable. Whoever finds an addition that is not done,
// WeCom's next attempt or the keeper's sweep, goes through the same steps
// again, and each of them may be repeated.
//
// A counter forgets an addition some time after it is done, longer than any
// attempt may still be under way.
package quota
