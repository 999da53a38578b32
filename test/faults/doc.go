// Package faults breaks what a refresher stands on, on real parts, and looks
// whether every code comes to agree with its facts again in time.
//
// Three tables come out of it. The crash matrix kills a refresher's process at
// every step of the way of an event. The stall matrix lets a worker stand still
// at a step until another refresher has done its work with newer facts. The
// fault table disturbs the connections to, and the servers of, Pulsar, MongoDB,
// Redis and WeCom under load.
//
// It owns its servers (a stack of its own, because it restarts them and empties
// Redis), the processes it starts and kills, and the judgement. It refuses to
// own what a good refresher is: that is docs/design.md, whose promises are
// checked here; whether a push was stale is for test/history to say. The tables as measured are in docs/faults.md.
package faults
