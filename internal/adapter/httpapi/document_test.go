package httpapi_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/httpapi"
)

func TestTheDocumentIsValidAndHasEveryRoute(t *testing.T) {
	c := theContract(t)
	if ok, errs := c.validate.ValidateDocument(); !ok {
		for _, err := range errs {
			t.Errorf("openapi.yaml: %s %s", err.Message, err.Reason)
		}
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
			if ok, errs := theContract(t).validate.ValidateHttpRequest(c.request()); !ok && o.media != lines {
				t.Errorf("the example is not what the document asks for: %v", errs[0].Reason)
			}
			if got := r.do(t, c); got.status >= 300 {
				t.Errorf("answers %d %s", got.status, got.body)
			}
		})
	}
}
