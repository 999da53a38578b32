package wecomsim

import (
	"net"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
)

// spoil carries out a fault. a is what the call came to: the zero status when
// it had no effect. The ledger is written first, so that it is complete
// however the connection ends.
func (s *Sim) spoil(w http.ResponseWriter, x *exchange, rule fault.Rule, a answer) {
	code := a.head().ErrCode
	switch rule.Action {
	case fault.ErrCode:
		s.record(x, rule.ErrCode, http.StatusOK, rule.Name())
		s.respond(w, x, refuse(rule.ErrCode))
	case fault.Status:
		s.record(x, code, rule.Status, rule.Name())
		w.WriteHeader(rule.Status)
	case fault.Timeout:
		s.record(x, code, 0, rule.Name())
		s.hang(x, rule.Hang)
		cut(w)
	case fault.Reset:
		s.record(x, code, 0, rule.Name())
		cut(w)
	}
}

// hang waits until the client goes away, the time is up or the Sim closes.
func (s *Sim) hang(x *exchange, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-x.r.Context().Done():
	case <-timer.C:
	case <-s.life.done:
	}
}

// cutter is a response writer that can end its connection without an answer.
type cutter interface {
	cut()
}

// cut ends the connection with a reset. Where that cannot be done (HTTP/2, a
// recorder) the answer is a 502.
func cut(w http.ResponseWriter) {
	if c, ok := w.(cutter); ok {
		c.cut()
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the client would see an orderly end
	}
	_ = conn.Close()
}
