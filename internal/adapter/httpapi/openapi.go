package httpapi

import (
	"context"
	_ "embed"
	"net/http"
)

//go:embed openapi.yaml
var openAPI []byte

// Document returns the OpenAPI document of the API. The caller does not change
// it.
func Document() []byte { return openAPI }

func (a *API) document(context.Context, *request) (answer, error) {
	return answer{status: http.StatusOK, body: openAPI, media: "application/yaml"}, nil
}
