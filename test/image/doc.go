// Package image holds the image of Rollcall to what it promises: what is in it,
// what its SBOMs say, and that it does a campaign's work in containers that are
// allowed next to nothing. `make image-test` builds the image and runs it.
//
// It owns the containers, in a store of its own, and removes them by their ID.
package image
