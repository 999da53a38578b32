// Package wecomsim is a WeCom to test against: it holds contact ways, checks
// tokens, members and frequencies as WeCom does, keeps a ledger of every call,
// fails on request, and plays the customers who scan the codes.
//
// It runs in process (New, Sim.Handler, Sim.Client) or as cmd/wecomsim. All
// that the control API of package control offers is a method of Sim.
//
// It owns the vendor's observable behavior, from WeCom's pages 91039, 96348,
// 90454, 90312, 96238, 90930 and 90968, and what no page says as Quirks that
// can be set. It refuses to own a judgement: whether a scan was misassigned or
// a pace was kept is decided by whoever reads its observers and its ledger,
// and it knows nothing of Rollcall.
//
// No lock is held while anything waits.
package wecomsim
