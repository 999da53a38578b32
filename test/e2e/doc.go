// Package e2e runs whole refreshers on the real servers against the simulated
// WeCom: from a published event to the vendor's config, bad input included. It
// holds tests only.
package e2e
