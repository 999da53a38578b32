// Package notify tells a tenant's people what happened to their staff and
// codes, through the channels that the tenant has configured.
//
// It owns notices and delivery rows: their states, the daily pool that pays for
// them, retries, and what is done about rows that wait or were left behind. A
// row is the truth about its delivery; no message and no memory of a process
// is. It refuses to own what is worth telling (whoever files a Notice decides)
// and how a message gets to its receiver (a Sender does). Operators are told of
// trouble with Rollcall itself by package alert.
package notify
