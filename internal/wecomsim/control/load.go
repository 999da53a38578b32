package control

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

type worldWire struct {
	Corps []corpWire `json:"corps"`
}

type corpWire struct {
	wecomsim.Corp
	Staff []wecomsim.Staff `json:"staff"`
	Ways  []wecomsim.Way   `json:"ways"`
}

// Load adds the corps, staff and contact ways of a JSON document, as
// POST /control/v1/load takes it, to sim. What comes before an error is kept.
func Load(sim *wecomsim.Sim, r io.Reader) error {
	var world worldWire
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&world); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	for _, c := range world.Corps {
		if err := sim.SetCorp(c.Corp); err != nil {
			return fmt.Errorf("load: %w", err)
		}
		if err := sim.SetStaff(c.ID, c.Staff...); err != nil {
			return fmt.Errorf("load: %w", err)
		}
		for _, w := range c.Ways {
			sim.AddWay(c.ID, w)
		}
	}
	return nil
}

func (a *api) load(r *http.Request) (reply, error) { return nil, Load(a.sim, r.Body) }
