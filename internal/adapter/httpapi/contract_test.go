package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"github.com/rollcall-dev/rollcall/internal/adapter/httpapi"
)

// contract is the OpenAPI document.
type contract struct {
	validate   validator.Validator
	operations []operation
}

// operation is one of the document.
type operation struct {
	method, path string
	scope        string // "" needs no token
	statuses     []string
	media        string // of the request's body
	example      string // of the request's body
	parameters   map[string]string
}

func (o operation) String() string { return o.method + " " + o.path }

// at fills the path's parameters in.
func (o operation) at(parameters map[string]string) string {
	path := o.path
	for name, value := range parameters {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	return path
}

// call is the operation with the examples of the document.
func (o operation) call(token string) call {
	return call{method: o.method, path: o.at(o.parameters), token: token, body: o.example, media: o.media}
}

var loaded = sync.OnceValues(loadContract)

func theContract(t *testing.T) *contract {
	t.Helper()
	c, err := loaded()
	if err != nil {
		t.Fatalf("openapi.yaml: %v", err)
	}
	return c
}

func loadContract() (*contract, error) {
	document, err := libopenapi.NewDocument(httpapi.Document())
	if err != nil {
		return nil, err
	}
	model, err := document.BuildV3Model()
	if err != nil {
		return nil, err
	}
	c := &contract{}
	var errs []error
	if c.validate, errs = validator.NewValidator(document); len(errs) > 0 {
		return nil, errs[0]
	}
	for path, item := range model.Model.Paths.PathItems.FromOldest() {
		for method, op := range item.GetOperations().FromOldest() {
			c.operations = append(c.operations, operationOf(strings.ToUpper(method), path, item, op))
		}
	}
	return c, nil
}

func operationOf(method, path string, item *v3.PathItem, op *v3.Operation) operation {
	o := operation{method: method, path: path, parameters: map[string]string{}}
	for _, need := range op.Security {
		for _, scopes := range need.Requirements.FromOldest() {
			o.scope = strings.Join(scopes, " ")
		}
	}
	for status := range op.Responses.Codes.FromOldest() {
		o.statuses = append(o.statuses, status)
	}
	for _, parameter := range item.Parameters {
		o.parameters[parameter.Name] = parameter.Example.Value
	}
	if op.RequestBody != nil {
		for media, content := range op.RequestBody.Content.FromOldest() {
			o.media = media
			o.example = exampleOf(content)
		}
	}
	return o
}

// check holds an answer to the document.
func (c *contract) check(t *testing.T, sent call, got reply) {
	t.Helper()
	if !slices.ContainsFunc(c.operations, func(o operation) bool { return o.method == sent.method && matches(o.path, sent.path) }) {
		return // a route that there is not
	}
	response := &http.Response{
		StatusCode: got.status, Header: got.header, Body: io.NopCloser(bytes.NewReader(got.body)),
	}
	if ok, errs := c.validate.ValidateHttpResponse(sent.request(), response); !ok {
		for _, err := range errs {
			t.Errorf("%s %s answers %d %s\nwhich is not what openapi.yaml says: %s %s %v", sent.method, sent.path, got.status, got.body, err.Message, err.Reason, err.SchemaValidationErrors)
		}
	}
}

// matches reports whether a path is of a pattern.
func matches(pattern, path string) bool {
	path, _, _ = strings.Cut(path, "?")
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, have, func(w, h string) bool { return w == h || strings.HasPrefix(w, "{") })
}

// exampleOf writes the document's example of a body as it is sent.
func exampleOf(content *v3.MediaType) string {
	if content.Example == nil {
		return ""
	}
	var example any
	if err := content.Example.Decode(&example); err != nil {
		return err.Error()
	}
	if text, isText := example.(string); isText {
		return text
	}
	body, err := json.Marshal(example)
	if err != nil {
		return err.Error()
	}
	return string(body)
}
