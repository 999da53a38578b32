package httpapi_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/httpapi"
)

func TestTheDocumentIsValidAndHasEveryRoute(t *testing.T) {
	c := theContract(t)
	if err := c.document.Validate(t.Context()); err != nil {
		t.Errorf("openapi.yaml: %v", err)
	}
	documented := []string{"none"}
	for _, o := range c.operations {
		documented = append(documented, o.String())
	}
	routes := httpapi.Routes()
	slices.Sort(documented)
	slices.Sort(routes)
	if diff := cmp.Diff(documented, routes); diff != "" {
		t.Errorf("routes (-openapi.yaml +code):\n%s", diff)
	}
}

// The examples of the document are requests that work.
func TestTheDocumentsExamplesWork(t *testing.T) {
	for _, o := range theContract(t).operations {
		t.Run(o.String(), func(t *testing.T) {
			r := newRig(t)
			c := o.call(everything)
			if o.media != lines {
				o.checkRequest(t, c)
			}
			if got := r.do(t, c); got.status >= 300 {
				t.Errorf("answers %d %s", got.status, got.body)
			}
		})
	}
}
