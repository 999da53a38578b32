// Package backstop brings back what could not be finished.
//
// It owns the sweep of the dirty set: releasing the codes that are due at a
// pace their tenant's budget can take, and making a code dirty whose announced
// call was left without an outcome. It refuses to own recomputing: a released
// code is an event like any other, and the refresher does the rest.
package backstop
