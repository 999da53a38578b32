package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/rollcall-dev/rollcall/internal/adapter/httpapi"
)

// contract is the OpenAPI document.
type contract struct {
	document   *openapi3.T
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

	route *routers.Route
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
	document, err := openapi3.NewLoader().LoadFromData(httpapi.Document())
	if err != nil {
		return nil, err
	}
	c := &contract{document: document}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			route := &routers.Route{Spec: document, Path: path, PathItem: item, Method: method, Operation: op}
			c.operations = append(c.operations, operationOf(route))
		}
	}
	slices.SortFunc(c.operations, func(a, b operation) int { return strings.Compare(a.String(), b.String()) })
	return c, nil
}

func operationOf(route *routers.Route) operation {
	o := operation{method: route.Method, path: route.Path, parameters: map[string]string{}, route: route}
	if needs := route.Operation.Security; needs != nil {
		for _, need := range *needs {
			o.scope = strings.Join(need["bearer"], " ")
		}
	}
	for status := range route.Operation.Responses.Map() {
		o.statuses = append(o.statuses, status)
	}
	for _, parameter := range route.PathItem.Parameters {
		o.parameters[parameter.Value.Name] = fmt.Sprint(parameter.Value.Example)
	}
	if body := route.Operation.RequestBody; body != nil {
		for media, content := range body.Value.Content {
			o.media, o.example = media, exampleOf(content.Example)
		}
	}
	return o
}

// exampleOf writes the document's example of a body as it is sent.
func exampleOf(example any) string {
	if text, isText := example.(string); isText {
		return text
	}
	body, err := json.Marshal(example)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// operation finds that of a call.
func (c *contract) operation(sent call) (operation, bool) {
	at := slices.IndexFunc(c.operations, func(o operation) bool {
		return o.method == sent.method && matches(o.path, sent.path)
	})
	if at < 0 {
		return operation{}, false
	}
	return c.operations[at], true
}

// input is a call as the validator takes it.
func (o operation) input(sent call) *openapi3filter.RequestValidationInput {
	return &openapi3filter.RequestValidationInput{
		Request: sent.request(), Route: o.route, PathParams: o.values(sent.path),
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true,
		},
	}
}

// checkRequest holds a call to the document.
func (o operation) checkRequest(t *testing.T, sent call) {
	t.Helper()
	if err := openapi3filter.ValidateRequest(t.Context(), o.input(sent)); err != nil {
		t.Errorf("%s %s %s is not what openapi.yaml asks for: %v", sent.method, sent.path, sent.body, err)
	}
}

// check holds an answer to the document.
func (c *contract) check(t *testing.T, sent call, got reply) {
	t.Helper()
	o, found := c.operation(sent)
	if !found {
		return // a route that there is not
	}
	err := openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: o.input(sent), Status: got.status, Header: got.header,
		Body: io.NopCloser(bytes.NewReader(got.body)), Options: o.input(sent).Options,
	})
	if err != nil {
		t.Errorf("%s %s answers %d %s\nwhich is not what openapi.yaml says: %v", sent.method, sent.path, got.status, got.body, err)
	}
}

// matches reports whether a path is of a pattern.
func matches(pattern, path string) bool {
	path, _, _ = strings.Cut(path, "?")
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, have, func(w, h string) bool { return w == h || strings.HasPrefix(w, "{") })
}

// values are the path's parameters.
func (o operation) values(path string) map[string]string {
	path, _, _ = strings.Cut(path, "?")
	values := map[string]string{}
	have := strings.Split(path, "/")
	for i, name := range strings.Split(o.path, "/") {
		if strings.HasPrefix(name, "{") {
			values[strings.Trim(name, "{}")] = have[i]
		}
	}
	return values
}
