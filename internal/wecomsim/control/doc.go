// Package control serves the control API of a simulator: JSON under
// /control/v1/, described in docs/wecomsim.md.
//
// It owns the wire format only. All that it offers is a method of
// wecomsim.Sim. It knows no authentication: serve it on a loopback address.
package control
