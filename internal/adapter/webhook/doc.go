// Package webhook tells a tenant's people of a notice by a signed HTTP request.
//
// It owns the request (docs/notifications.md is for whoever receives it), its
// signature, what an answer means, and where a request may go: tenants choose
// the URL, so it refuses to connect to an address of our own network, whatever
// name leads there. It refuses to own what is told, how often it is tried and
// what becomes of it: it makes one attempt a call.
//
// A URL is never in an error, a log line or a span beyond scheme and host, and
// the secret is nowhere.
package webhook
