package httpapi

import (
	"net/http"

	"github.com/rollcall-dev/rollcall/internal/registry"
)

// outcomeBody says what a write has led to.
type outcomeBody struct {
	Created   bool   `json:"created"`
	Changed   bool   `json:"changed"`
	Published string `json:"published"`
	// FanOut is the one that recomputes the codes concerned.
	FanOut *ticketBody `json:"fan_out,omitempty"`
	// ContactWay is "pending" while WeCom has not answered yet.
	ContactWay string `json:"contact_way,omitempty"`
}

type ticketBody struct {
	ID    string `json:"id"`
	Epoch int64  `json:"epoch"`
}

// wrote answers a write: 201 when it has made something, 202 when its contact
// way is still being made, 200 otherwise.
func wrote(r *request, out registry.Outcome, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	body := outcomeBody{Created: out.Created, Changed: out.Changed, Published: string(out.Published)}
	if out.Published == registry.ByFanOut {
		body.FanOut = &ticketBody{ID: out.FanOut.ID, Epoch: out.FanOut.Epoch}
	}
	status := http.StatusOK
	if out.Created {
		status = http.StatusCreated
	}
	if out.WayPending {
		body.ContactWay, status = "pending", http.StatusAccepted
	}
	ans, err := answered(status, body)
	if out.Created {
		ans.location = r.URL.EscapedPath()
	}
	return ans, err
}
