package wecomsim

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

// maxBody is the largest request body, far above a hundred members.
const maxBody = 1 << 20

// Handler serves WeCom's API under /cgi-bin/. What is not known there is
// answered with 404 and an empty body. The control API is not part of it.
func (s *Sim) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// operation is one API: who may call it and what it does.
type operation struct {
	api    string
	method string
	writes bool // changes the contact way of its config_id
	// admit finds the corp or refuses; nil: go on.
	admit func(*Sim, *exchange) *status
	apply func(*Sim, *exchange) answer
}

var operations = map[string]*operation{
	"/cgi-bin/gettoken": {api: "gettoken", method: http.MethodGet, admit: (*Sim).admitSecret, apply: (*Sim).getToken},

	"/cgi-bin/webhook/send": {api: "webhook/send", method: http.MethodPost, admit: (*Sim).admitRobot, apply: (*Sim).showMessage},

	"/cgi-bin/externalcontact/add_contact_way":    post("add_contact_way", (*Sim).addContactWay),
	"/cgi-bin/externalcontact/get_contact_way":    post("get_contact_way", (*Sim).getContactWay),
	"/cgi-bin/externalcontact/update_contact_way": writing(post("update_contact_way", (*Sim).updateContactWay)),
	"/cgi-bin/externalcontact/del_contact_way":    writing(post("del_contact_way", (*Sim).delContactWay)),
	"/cgi-bin/externalcontact/list_contact_way":   post("list_contact_way", (*Sim).listContactWay),
}

func post(api string, apply func(*Sim, *exchange) answer) *operation {
	return &operation{api: api, method: http.MethodPost, admit: (*Sim).admitToken, apply: apply}
}

func writing(op *operation) *operation {
	op.writes = true
	return op
}

// exchange is one call on its way through the simulator.
type exchange struct {
	op       *operation
	r        *http.Request
	ip       string
	received time.Time
	corp     *corp
	corpID   string
	secret   string // of the app; gettoken only
	robot    *robot // webhook/send only
	raw      []byte // the body
	ask      wayRequest
	warned   bool // the body was not quite JSON
	entry    Call
}

func (s *Sim) serve(w http.ResponseWriter, r *http.Request) {
	op, ok := operations[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	x := &exchange{op: op, r: r, ip: s.callerIP(r), received: s.now()}
	refused, leave := s.door(x)
	if refused != nil {
		s.record(x, refused.ErrCode, http.StatusOK, "")
		s.respond(w, x, refused)
		return
	}
	defer leave()
	s.perform(w, x)
}

// perform carries out a call that was let in, with latency and faults.
func (s *Sim) perform(w http.ResponseWriter, x *exchange) {
	latency := s.dice.latency(*s.latency.Load())
	rule, hit := s.faults.Match(fault.Call{API: x.op.api, Corp: x.corpID, ConfigID: x.ask.ConfigID, Members: x.ask.User})
	if hit && rule.Phase == fault.Before {
		s.spoil(w, x, rule, &status{})
		return
	}
	// WeCom does not notice that a client went away: neither does this wait.
	if !s.life.sleep(latency / 2) {
		cut(w)
		return
	}
	a := x.op.apply(s, x)
	if hit {
		s.spoil(w, x, rule, a)
		return
	}
	s.record(x, a.head().ErrCode, http.StatusOK, "")
	if !s.life.sleep(latency - latency/2) {
		cut(w)
		return
	}
	s.respond(w, x, a)
}

// door refuses what is refused before anything takes time: in WeCom's order
// the method, the IP, the token, the frequency, the concurrency, the form.
func (s *Sim) door(x *exchange) (refused *status, leave func()) {
	if x.r.Method != x.op.method {
		return refuse(map[string]int{http.MethodGet: codeNeedGet, http.MethodPost: codeNeedPost}[x.op.method]), nil
	}
	if s.secrets.isBlocked(x.ip, x.received) {
		return refuse(codeTooFrequent), nil
	}
	if refused := x.op.admit(s, x); refused != nil {
		return refused, nil
	}
	if _, ok := s.limits.Admit(x.received, limits.Call{Corp: x.corpID, IP: x.ip, API: x.op.api}); !ok {
		return refuse(codeTooFrequent), nil
	}
	land, ok := s.calls.Enter(flight{x.corpID, x.op.api}, s.limits.Concurrency())
	if !ok {
		return refuse(codeTooConcurrent), nil
	}
	if refused := x.readBody(); refused != nil {
		land()
		return refused, nil
	}
	release, ok := s.claim(x)
	if !ok {
		land()
		return refuse(codeConflict), nil
	}
	return nil, func() { release(); land() }
}

// claim holds the contact way of a write, where conflicts are refused.
func (s *Sim) claim(x *exchange) (release func(), ok bool) {
	if !x.op.writes || s.Quirks().Conflicts != ConflictsRefused {
		return func() {}, true
	}
	return s.writes.Enter(x.corpID+"/"+x.ask.ConfigID, 1)
}

// admitToken finds the corp of the token. A token anywhere but in the query is
// no token (41001).
func (s *Sim) admitToken(x *exchange) *status {
	value := x.r.URL.Query().Get("access_token")
	if value == "" {
		return refuse(codeTokenMissing)
	}
	t, expired, known := s.tokens.find(value, x.received)
	if !known {
		return refuse(codeBadToken)
	}
	c, ok := s.corp(t.app.corp)
	if !ok {
		return refuse(codeBadToken)
	}
	if expired {
		return refuse(s.Quirks().ExpiredCode)
	}
	x.corp, x.corpID = c, t.app.corp
	conf := c.settings()
	if len(conf.TrustedIPs) > 0 && !slices.Contains(conf.TrustedIPs, x.ip) {
		return refuse(codeUntrustedIP)
	}
	for _, app := range conf.Apps {
		switch {
		case app.Secret != t.app.secret:
		case app.Disabled:
			return refuse(codeAppDisabled)
		case app.NotAllowed:
			return refuse(codeAPINotAllowed)
		default:
			return nil
		}
	}
	return refuse(codeBadToken) // its app is gone
}

// readBody decodes the parameters. As at WeCom a body that is only nearly JSON
// may still do: what could be read counts, and the answer carries a warning.
func (x *exchange) readBody() *status {
	if x.op.method != http.MethodPost {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(x.r.Body, maxBody+1))
	if err != nil {
		return refuse(codeBadJSON)
	}
	if len(body) > maxBody {
		return refuse(codeBodyTooLarge)
	}
	x.raw = body
	var wrongType *json.UnmarshalTypeError
	err = json.Unmarshal(body, &x.ask)
	switch {
	case err == nil:
	case errors.As(err, &wrongType):
		x.warned = true
	default: // perhaps one good document with something behind it
		if x.ask.first(body) != nil {
			return refuse(codeBadJSON)
		}
		x.warned = true
	}
	x.entry.ConfigID, x.entry.Members = x.ask.ConfigID, x.ask.User
	return nil
}

// record writes the call to ledger and counters. HTTP status 0: no answer.
func (s *Sim) record(x *exchange, errcode, httpStatus int, faultName string) {
	e := x.entry
	e.Received, e.Corp, e.IP, e.API = x.received, x.corpID, x.ip, x.op.api
	e.ErrCode, e.HTTPStatus, e.Fault = errcode, httpStatus, faultName
	s.ledger.Append(e)
	s.counts.call(CallCount{API: e.API, ErrCode: errcode, Fault: faultName})
	if s.onCall != nil {
		s.onCall(e)
	}
}

func (s *Sim) callerIP(r *http.Request) string {
	if ip := r.Header.Get(s.ipHeader); ip != "" {
		return ip
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
