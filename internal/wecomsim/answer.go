package wecomsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// answer is a body that begins with errcode and errmsg.
type answer interface {
	head() *status
}

// status is what every answer begins with.
type status struct {
	ErrCode int    `json:"errcode"`
	ErrMsg  string `json:"errmsg"`
}

func (s *status) head() *status { return s }

type tokenAnswer struct {
	status
	AccessToken string `json:"access_token"`
	ExpiresIn   int    `json:"expires_in"`
}

type addedAnswer struct {
	status
	ConfigID string `json:"config_id"`
	QRCode   string `json:"qr_code"`
}

type wayAnswer struct {
	status
	ContactWay wireWay `json:"contact_way"`
}

type listAnswer struct {
	status
	ContactWay []listedWay `json:"contact_way"`
	NextCursor string      `json:"next_cursor,omitempty"`
}

type listedWay struct {
	ConfigID string `json:"config_id"`
}

// refuse is the answer of a code, with its usual text.
func refuse(code int) *status {
	text, ok := texts[code]
	if !ok {
		text = "error"
	}
	return &status{ErrCode: code, ErrMsg: text}
}

// respond writes the answer; the headers repeat what it begins with.
func (s *Sim) respond(w http.ResponseWriter, x *exchange, a answer) {
	head := a.head()
	if head.ErrCode == codeOK {
		head.ErrMsg = texts[codeOK]
	} else {
		head.ErrMsg += s.hint(x, head.ErrCode)
	}
	if x.warned {
		head.ErrMsg = "Warning: wrong json format. " + head.ErrMsg
	}
	body, err := json.Marshal(a)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=UTF-8")
	h.Set("Error-Code", strconv.Itoa(head.ErrCode))
	h.Set("Error-Msg", head.ErrMsg)
	_, _ = w.Write(body) // the client may be gone; that is its affair
}

// hint is the tail of every error message.
func (s *Sim) hint(x *exchange, code int) string {
	return fmt.Sprintf(", hint: [%d%010d], from ip: %s, more info at https://open.work.weixin.qq.com/devtool/query?e=%d",
		x.received.UnixMilli(), s.dice.intN(1e10), x.ip, code)
}
