// Package fanout has every code of a scope recomputed.
//
// It owns fan-outs: their rows, their claims, their pace and their epochs. A
// scope is a staff member, with every code he is a member, backup or fallback
// of, or a whole tenant. It refuses to own what changed: a fan-out is many
// reasons to recompute, and the refresher does the rest.
package fanout
