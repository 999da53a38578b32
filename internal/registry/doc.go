// Package registry writes facts so that nobody can forget to say so.
//
// It owns the way of a fact: checked as Decide would check it, stored, then
// announced, by an event for one code or a fan-out for a staff member or a
// tenant; and what a request with an idempotency key was answered. It refuses to
// own what the facts lead to, how a request for a write arrives, and how the
// announcement is delivered.
package registry
