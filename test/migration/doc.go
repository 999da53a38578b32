// Package migration imports a company from a simulated WeCom into real MongoDB,
// by processes that are killed.
//
// It owns no rule of an import: those are in package adoption.
package migration
