// Package limits counts calls as WeCom does and says which to refuse.
//
// It owns the windows per corp and API and per IP and API (page 90312), the
// blocks that follow a breach, and the number of calls in flight. It refuses
// to own a clock: every question carries its time.
package limits
