package wecom

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"
)

// ErrTooLate says that a call was not sent because its deadline had passed
// when the wire was reached.
var ErrTooLate = errors.New("the deadline for sending has passed")

var errGateShut = errors.New("the call was given up before it was sent")

// gate stands between a request's body and the transport and knows whether a
// byte of it ever passed. The transport reads the body when it has a
// connection and writes next, so this is both the last moment for refusing a
// call that is late and the exact line between "surely not applied" and
// "unknown": WeCom cannot act on a POST of which it has no body. net/http's
// trace hooks cannot draw that line: GotConn comes before anything is written,
// WroteHeaders before anything is flushed, and a canceled round trip may
// return between either and the write.
type gate struct {
	state atomic.Int32
	late  func() error // asked before each first read; nil error: go
}

const (
	gateWaiting int32 = iota
	gateOpen          // a byte may be on the wire
	gateShut          // none was and none will be
)

// body returns a reader of payload behind the gate. The transport asks for
// another one when it replays a request of which nothing was written.
func (g *gate) body(payload []byte) io.ReadCloser {
	return &gatedBody{gate: g, payload: bytes.NewReader(payload)}
}

// pass opens the gate if the call may still go.
func (g *gate) pass() error {
	if err := g.late(); err != nil {
		return err
	}
	if !g.state.CompareAndSwap(gateWaiting, gateOpen) && g.state.Load() == gateShut {
		return errGateShut
	}
	return nil
}

// shut keeps the gate from opening and reports whether a byte had passed. From
// then on the answer does not change, whatever the transport still does.
func (g *gate) shut() (passed bool) {
	return !g.state.CompareAndSwap(gateWaiting, gateShut) && g.state.Load() == gateOpen
}

type gatedBody struct {
	gate    *gate
	payload *bytes.Reader
	passed  bool
}

// Read hands out the payload once the gate has let this body pass.
func (b *gatedBody) Read(p []byte) (int, error) {
	if !b.passed {
		if err := b.gate.pass(); err != nil {
			return 0, err
		}
		b.passed = true
	}
	return b.payload.Read(p)
}

// Close releases nothing.
func (b *gatedBody) Close() error { return nil }
