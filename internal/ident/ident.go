// Package ident says what can be an ID.
//
// It owns the limits and the alphabet of docs/events.md, which hold wherever a
// tenant, a code or a staff member is named. It refuses to own how a refusal is
// worded, and whether what an ID names exists.
//
// The SDK, pkg/refresh, stands alone and keeps the same rule by itself; a test
// holds the two together.
package ident

import "strings"

// The most bytes of an ID.
const (
	MaxTenant = 128
	MaxCode   = 128
	MaxStaff  = 64 // WeCom's own limit of a userid
)

// Tenant reports whether a text can be a tenant's ID: 1 to MaxTenant bytes of
// the alphabet.
func Tenant(id string) bool { return id != "" && len(id) <= MaxTenant && Plain(id) }

// Code reports whether a text can be a code's ID: 1 to MaxCode bytes of the
// alphabet.
func Code(id string) bool { return id != "" && len(id) <= MaxCode && Plain(id) }

// Plain reports whether a text holds nothing but the alphabet of tenants and
// codes: A-Z a-z 0-9 . _ : -
func Plain(id string) bool {
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte("._:-", c) < 0 {
			return false
		}
	}
	return true
}
