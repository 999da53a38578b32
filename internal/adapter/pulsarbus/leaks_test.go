//go:build !integration

package pulsarbus

import "go.uber.org/goleak"

// clientLeaks: without a broker nothing is left behind.
func clientLeaks() []goleak.Option { return nil }
