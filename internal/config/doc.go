// Package config owns what an operator can set: the environment variables of
// Rollcall, one struct per concern, with the name, the default, the accepted
// values and the meaning of each beside its field.
//
// The whole configuration is judged at once and before anything is started:
// [Load] returns every mistake together, so that a deployment is corrected in
// one go. The reference (`rollcall help env`, docs/configuration.md) is read
// from the same struct tags and cannot drift from what is checked.
//
// The package refuses to own anything that is decided while Rollcall runs
// (facts, lanes of single codes, tenants' credentials live in MongoDB), and it
// opens no connection.
package config
