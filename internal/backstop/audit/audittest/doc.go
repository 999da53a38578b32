// Package audittest holds the contract of the audit's stores, and stores in
// memory that keep it.
package audittest
