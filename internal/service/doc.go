// Package service puts the roles of Rollcall together: it opens the backends,
// hands the adapters to the use cases and keeps everything running until it is
// told to stop.
//
// It owns wiring, lifecycle and the translation of what happens into metrics.
// It refuses to own decisions: each is made in a package below.
package service
