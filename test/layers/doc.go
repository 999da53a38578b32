// Package layers proves that the linter rejects imports against the layers of
// the design.
//
// It owns no rule: those are in .golangci.yml, under depguard. Its test runs
// the linter with them over a scratch module of small violations, because a
// rule whose pattern matches nothing looks exactly like a rule that is kept.
// The test needs the linter, so it has the build tag lint; `make lint` runs it.
package layers
