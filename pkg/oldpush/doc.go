// Package oldpush tells Rollcall what another system has pushed.
//
// A system that writes the member lists of live QR codes itself calls a Reporter
// after each of its pushes. Rollcall, in shadow mode, compares that with what it
// would have pushed, until the tenant can move over (docs/shadow.md).
//
// The package owns one HTTP call: its form, its time-outs and its retries. It
// refuses to own a queue. A report that could not be delivered is lost unless its
// caller repeats it; the next push of the code is as good, since each report is
// the whole list. A caller that must not wait gives a short context, or calls from
// a goroutine of its own. It uses the standard library alone.
package oldpush
