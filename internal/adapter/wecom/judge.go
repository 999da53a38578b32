package wecom

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// ErrMalformedAnswer says that an HTTP 200 did not carry the JSON that WeCom
// documents: something else answered, or the answer was cut.
var ErrMalformedAnswer = errors.New("the answer is not WeCom's JSON")

// status is what every answer of WeCom carries.
type status struct {
	ErrCode *int   `json:"errcode"` // a pointer: an answer without it is not WeCom's
	ErrMsg  string `json:"errmsg"`
}

// judge turns an answer into nil (errcode 0) or an error. mayHaveTaken says
// that the call is a write whose body was sent; it decides Unknown where the
// answer does not.
func judge(x exchange, httpStatus int, raw []byte, mayHaveTaken bool) *push.CallError {
	callErr := &push.CallError{Op: x.op, HTTPStatus: httpStatus}
	if httpStatus != http.StatusOK {
		refused := httpStatus >= 400 && httpStatus < 500
		callErr.Unknown = mayHaveTaken && !refused
		return callErr
	}
	var answer status
	if err := json.Unmarshal(raw, &answer); err != nil || answer.ErrCode == nil {
		callErr.Unknown = mayHaveTaken
		callErr.Err = ErrMalformedAnswer
		return callErr
	}
	if *answer.ErrCode == 0 {
		return nil
	}
	callErr.ErrCode = *answer.ErrCode
	callErr.Message = message(answer.ErrMsg, x.secrets)
	callErr.Unknown = mayHaveTaken && callErr.ErrCode == codeBusy
	return callErr
}
