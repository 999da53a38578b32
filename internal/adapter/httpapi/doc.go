// Package httpapi is the facts API over HTTP.
//
// It owns the routes under /v1, their documents (openapi.yaml, embedded and
// served), the form of requests, answers and problems (RFC 9457), who is let in,
// and how often. It refuses to own what a write means: package registry checks,
// stores and announces it. Servers and TLS are the process's; the server has a
// ReadTimeout and a WriteTimeout, which requests shorten or lengthen for
// themselves.
package httpapi
