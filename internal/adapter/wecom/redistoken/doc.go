// Package redistoken keeps WeCom's access tokens in Redis for all instances.
//
// It owns the keys under its prefix, their expiry and the sealing of the
// tokens: an access token is a secret, and whoever can read this Redis could
// use it. It refuses to own when a token is fetched, and it keeps no state of
// its own: every method is one or two commands, and an error means that Redis
// could not be asked.
package redistoken
