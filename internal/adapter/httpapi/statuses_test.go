package httpapi_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/ratelimit"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// scenes lead any operation to a status. A new operation is led there too.
var scenes = map[string]func(t *testing.T, o operation) (*rig, call){
	"200": func(t *testing.T, o operation) (*rig, call) { return newRig(t), o.call(everything) },
	"201": func(t *testing.T, o operation) (*rig, call) {
		c := o.call(everything)
		c.path = o.at(map[string]string{"tenant": newest(o, "tenant"), "staff": newest(o, "staff"), "code": newest(o, "code")})
		return newRig(t), c
	},
	"202": func(t *testing.T, o operation) (*rig, call) {
		r := newRig(t)
		r.ways.err = registry.ErrWayPending
		return r, put(acme+"/codes/new", `{"contact_way":{"create":true},"family":"native"}`)
	},
	"400": func(t *testing.T, o operation) (*rig, call) {
		c := o.call(everything)
		switch {
		case o.media == lines || o.media == "" && o.method != "GET":
			c.key = "two words"
		case o.method == "GET":
			c.path += "?page=2"
		default:
			c.body = "{"
		}
		return newRig(t), c
	},
	"401": func(t *testing.T, o operation) (*rig, call) { return newRig(t), o.call("") },
	"403": func(t *testing.T, o operation) (*rig, call) { return newRig(t), o.call(nothing) },
	"404": func(t *testing.T, o operation) (*rig, call) { return newRig(t), o.call(globexOnly) },
	"409": func(t *testing.T, o operation) (*rig, call) {
		r, c := newRig(t), o.call(everything)
		c.key = "k"
		// The first request is still at work when the second comes.
		r.answers.busy = true
		return r, c
	},
	"413": func(t *testing.T, o operation) (*rig, call) {
		c := o.call(everything)
		c.body = strings.Repeat("x", importLimit+1)
		return newRig(t), c
	},
	"415": func(t *testing.T, o operation) (*rig, call) {
		c := o.call(everything)
		c.media = "text/plain"
		return newRig(t), c
	},
	"422": func(t *testing.T, o operation) (*rig, call) {
		r, c := newRig(t), o.call(everything)
		switch {
		case o.media == lines:
			c.body = "{}"
		case o.method == "GET":
			c.path += "?limit=0"
		default:
			c.key = "k"
			r.answers.reused = true
		}
		return r, c
	},
	"429": func(t *testing.T, o operation) (*rig, call) {
		return newPacedRig(t, ratelimit.Limit{PerSecond: 1e-9, Burst: 0}), o.call(everything)
	},
	"500": func(t *testing.T, o operation) (*rig, call) {
		r := newRig(t)
		r.facts.Fail = func() error { panic("a bug") }
		return r, o.call(everything)
	},
	"503": func(t *testing.T, o operation) (*rig, call) {
		r := newRig(t)
		r.facts.Fail = func() error { return errAway }
		return r, o.call(everything)
	},
}

// newest is the name of something that is not there yet, where the operation
// makes one of its kind, and otherwise the example's.
func newest(o operation, parameter string) string {
	if strings.HasSuffix(o.path, "{"+parameter+"}") {
		return "brand-new"
	}
	return o.parameters[parameter]
}

// Every status that the document promises of an operation can be had, and is
// answered as the document says.
func TestEveryDocumentedStatus(t *testing.T) {
	for _, o := range theContract(t).operations {
		for _, status := range o.statuses {
			name := fmt.Sprintf("%s %s", o, status)
			t.Run(name, func(t *testing.T) {
				scene := scenes[status]
				if scene == nil {
					t.Fatalf("no scene leads to %s; there are %v", status, slices.Sorted(maps.Keys(scenes)))
				}
				r, c := scene(t, o)
				if got := r.do(t, c); fmt.Sprint(got.status) != status {
					t.Errorf("answers %d %s", got.status, got.body)
				}
			})
		}
	}
}
