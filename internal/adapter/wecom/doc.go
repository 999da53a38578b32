// Package wecom speaks WeCom's contact-way API over net/http.
//
// It owns the wire: access tokens and their sharing between instances, the
// exact point up to which a call is surely not applied, typed requests and
// answers, circuit breakers, and spans and metrics in which no token or secret
// appears. It refuses to own what follows from an answer: pacing, backoff,
// bisecting a list and marking a code deleted belong to package push, and
// which members a contact way has belongs to package roster.
//
// An Endpoint is WeCom's API host. Tokens keeps one access token a tenant
// on it, Client makes authenticated calls, and Vendor puts breakers before the
// two calls that the push protocol makes. Ways are the calls that make and
// delete contact ways, behind the same breakers.
//
// # When is a call unknown
//
// A write is surely not applied when no byte of its body was handed to the
// transport, when WeCom answered a positive errcode, or when the answer was an
// HTTP 4xx. Everything else that is not "errcode 0" leaves the outcome
// unknown: a failure once the body was being read, HTTP 3xx and 5xx, a body
// that is cut, too large or not WeCom's JSON, and errcode -1 (system busy:
// WeCom does not document that nothing was written). Reads are never unknown.
package wecom
