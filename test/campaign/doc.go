// Package campaign closes the loop around Rollcall: it plays a platform whose
// staff come and go and whose customers scan, runs real refreshers against real
// servers and the vendor simulator, and judges the run by what the business
// feels: who met whom, how fresh the lists were, and whether anything was lost.
//
// It owns the world that is played (facts, actors, customers), the processes
// it starts, the bookkeeping of the truth and the report. It refuses to own
// thresholds: what is good enough is for the demo, the tests and the
// benchmarks that use it.
//
// The companies' side speaks to Rollcall as a company does: facts and draws go
// through the API, and WeCom's callbacks reach the ingress as they are, but pass
// by here first, so that the truth knows of an addition before Rollcall does.
package campaign
