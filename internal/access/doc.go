// Package access decides who may do what through the HTTP API.
//
// It owns bearer tokens: their making, their form at rest (a hash), their
// scopes and the tenant they are bound to. It refuses to own what a route is
// and how a refusal is answered.
package access
