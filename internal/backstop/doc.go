// Package backstop brings back what could not be finished.
//
// It owns the sweeps of the keeper: releasing codes that are due, be they dirty
// or changed by time alone, at a pace their tenant's budget can take, and making
// a code dirty whose announced call was left without an outcome. It refuses to
// own recomputing: a released code is an event like any other, and the refresher
// does the rest.
//
// # Two keepers at once
//
// The lease (package lease) makes it rare that two keepers sweep at the same
// time, and a process that was paused makes it possible all the same. Nothing
// here does harm then, however late a write comes:
//
//   - An event is a reason to recompute a code. One more costs a look.
//   - A mark says that a code needs to be looked at. The same.
//   - A removal is conditional on the version of the entry that was read before
//     its event was published. Every mark and postponement changes the version,
//     and none is used twice: what is removed is covered by an event that the
//     broker has stored, whoever published it and whenever.
//   - A postponement is conditional on the version too.
//   - A change that has come is taken out of the refreshes' sight before its event
//     is published, and forgotten after: conditional on the version of that taking.
//
// So the versions are the fence, and the lease's token is carried by none of
// these writes. A sweep whose writes are not like that has to carry it.
package backstop
