// Package console proves the console in a real browser, on real parts.
package console
