package contactway

import "sync"

// maxRemarks bounds what is remembered: about 2 MiB.
const maxRemarks = 10_000

// remarks remembers which remark a contact way was seen with, so that many rows
// of one time are looked for with one call a contact way. That a contact way
// does not carry a marker never changes: a marker is only there from the
// beginning. The zero value remembers nothing yet.
type remarks struct {
	mu sync.Mutex
	of map[seenWay]string
}

type seenWay struct{ tenant, configID string }

// lacks reports whether a contact way is known not to carry a marker.
func (r *remarks) lacks(tenant, configID, marker string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	remark, seen := r.of[seenWay{tenant, configID}]
	return seen && remark != marker
}

// saw notes the remark of a contact way. When there are too many, all are
// forgotten.
func (r *remarks) saw(tenant, configID, remark string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil || len(r.of) >= maxRemarks {
		r.of = map[seenWay]string{}
	}
	r.of[seenWay{tenant, configID}] = remark
}
