package redisbudget

import "strings"

// escape keeps a name from ending the hashed part of a key or from running
// into the next.
var escape = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D", ":", "%3A")

// keyring builds the keys of one pair of buckets. All of them carry the same
// hash tag and so are on one slot of Redis Cluster.
type keyring struct {
	base string // "<prefix>{t:<tenant>}:<api>:" or "<prefix>{ip:<egress>}:<api>:"
}

func newKeyring(prefix, kind, name, api string) keyring {
	return keyring{base: prefix + "{" + kind + ":" + escape.Replace(name) + "}:" + escape.Replace(api) + ":"}
}

func (k keyring) pair() string          { return k.base + "pair" }
func (k keyring) freedCommon() string   { return k.base + "freed:c" }
func (k keyring) freedReserve() string  { return k.base + "freed:r" }
func (k keyring) spare() string         { return k.base + "spare" }
func (k keyring) slot(id string) string { return k.base + "slot:" + id }
func (k keyring) freed(lane int) string {
	if lane == laneReserve {
		return k.freedReserve()
	}
	return k.freedCommon()
}
