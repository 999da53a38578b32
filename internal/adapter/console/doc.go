// Package console is the operator's view in a browser: what is wrong now, who
// is on a code's list and why, and what a person may do about it.
//
// It owns its pages, who has signed in, and the questions that come before an
// action. It refuses to own what it shows and what an action does: each comes
// from the package that owns it, and a page never says something else than the
// command line does.
package console
