// Package quota shows the quota loop on real processes and servers: callbacks
// are counted exactly once and fan-outs are completed, whoever is killed in
// their middle, and one tenant's flood is not another's.
package quota
