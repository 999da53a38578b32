// Package alert tells a person what cannot wait for somebody to look at a
// metric: that WeCom blocks a tenant, that a tenant is suspended, that Redis is
// gone.
//
// It owns how often a person is told: the first alert of a kind and tenant
// goes at once, repeats are merged and told with their number when an interval
// is over, many tenants with one trouble share a message, and all messages
// together stay below what the channel takes. It owns the one goroutine that
// tells. It refuses to own how a message gets to a person (a Channel does) and
// what is worth an alert: whoever sees the trouble raises it, and is never kept
// waiting.
package alert
