package landing

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/draw"
)

// maxKey is the most bytes of an Idempotency-Key.
const maxKey = 255

// drawn is the answer to POST /v1/draw/{code}.
type drawn struct {
	Code     string `json:"code"`
	Staff    string `json:"staff"`
	Round    int64  `json:"round"`
	Lap      int64  `json:"lap"`
	Position int    `json:"position"`
	QRCode   string `json:"qr_code,omitempty"`
}

// serveDraw is the route of a code's draws.
func (s *Site) serveDraw(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		s.postDraw(w, r)
	case http.MethodGet, http.MethodHead:
		s.getDraws(w, r)
	default:
		p := newProblem(http.StatusMethodNotAllowed, "method_not_allowed", "POST draws, GET tells the last draws")
		p.allow = "GET, HEAD, POST"
		p.write(w)
	}
}

// postDraw gives the next member of a code. ?with=qr_code adds the URL of his
// QR code, if it can be had: the draw stands either way.
func (s *Site) postDraw(w http.ResponseWriter, r *http.Request) {
	grant, ok := s.granted(w, r, access.Draw)
	if !ok {
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if !visible(key) {
		newProblem(http.StatusBadRequest, "malformed", "Idempotency-Key has to be 1 to 255 visible ASCII characters").write(w)
		return
	}
	if key != "" {
		key = "api\x00" + grant.Token + "\x00" + key
	}
	answer, err := s.Desk.Draw(r.Context(), draw.Request{
		Code: r.PathValue("code"), Grant: &grant, Key: key, Surface: draw.API, From: network(s.opts.Proxies.client(r)),
	})
	if err != nil {
		problemOf(err).write(w)
		return
	}
	out := drawn{Code: answer.Code, Staff: answer.Staff, Round: answer.Round, Lap: answer.Lap, Position: answer.Position}
	if r.URL.Query().Get("with") == "qr_code" {
		out.QRCode = s.wayOf(r.Context(), draw.API, answer)
	}
	if answer.Repeated {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	writeJSON(w, out)
}

// past is one draw in the answer to GET /v1/draw/{code}.
type past struct {
	At       time.Time `json:"at"`
	Staff    string    `json:"staff"`
	Round    int64     `json:"round"`
	Lap      int64     `json:"lap"`
	Position int       `json:"position"`
}

// getDraws tells the last draws of a code, the newest first.
func (s *Site) getDraws(w http.ResponseWriter, r *http.Request) {
	grant, ok := s.granted(w, r, access.Read)
	if !ok {
		return
	}
	code := r.PathValue("code")
	trail, err := s.Desk.Last(r.Context(), code, grant)
	if err != nil {
		problemOf(err).write(w)
		return
	}
	out := struct {
		Code  string `json:"code"`
		Draws []past `json:"draws"`
	}{Code: code, Draws: make([]past, 0, len(trail))}
	for _, p := range trail {
		out.Draws = append(out.Draws, past{At: p.At, Staff: p.Staff, Round: p.Round, Lap: p.Lap, Position: p.Position})
	}
	writeJSON(w, out)
}

// granted returns the grant of a request that has a scope for some tenant;
// whether it reaches the code is the desk's to find out. Otherwise it answers.
func (s *Site) granted(w http.ResponseWriter, r *http.Request, scope access.Scope) (access.Grant, bool) {
	grant, ok := s.Grant(r)
	switch {
	case !ok:
		newProblem(http.StatusUnauthorized, "no_token", "send the header Authorization: Bearer rc_…").write(w)
	case !grant.Allows(scope, grant.Tenant):
		newProblem(http.StatusForbidden, "scope_missing", "the token lacks the scope "+string(scope)).write(w)
	default:
		return grant, true
	}
	s.Observer.Ended(r.Context(), draw.API, draw.Refused, 0)
	return access.Grant{}, false
}

// visible reports whether a key is absent or of visible ASCII characters.
func visible(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return len(key) <= maxKey
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(value) // the client went away: nobody to tell
}
