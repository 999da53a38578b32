// Package upgrade rolls an installation from an earlier commit to this one and
// back, under a campaign's load, and judges what became of it.
//
// It owns the building of the earlier program. What is played, and what is a
// broken promise, is package campaign's.
package upgrade
