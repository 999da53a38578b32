package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/nearest"
)

// decode reads one JSON document, strictly: no field that T does not have, no
// second document.
func decode[T any](body []byte) (T, error) {
	var into, none T
	if string(bytes.TrimSpace(body)) == "null" { // which decodes into anything
		return none, wrong(http.StatusBadRequest, codeMalformed, "", "null", jsonKind(reflect.TypeFor[T]()))
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&into); err != nil {
		return none, jsonProblem(err, reflect.TypeFor[T]())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return none, wrong(http.StatusBadRequest, codeMalformed, "", "", "one JSON document and nothing after it")
	}
	return into, nil
}

// unknownField is how encoding/json begins to say so; the name follows, quoted.
const unknownField = "json: unknown field "

func jsonProblem(err error, target reflect.Type) *problem {
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return wrong(http.StatusBadRequest, codeMalformed, mistyped.Field, mistyped.Value, jsonKind(mistyped.Type))
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		p := newProblem(http.StatusBadRequest, codeMalformed, "")
		p.Detail = fmt.Sprintf("not JSON at byte %d: %s", syntax.Offset, syntax.Error())
		return p
	}
	if quotedName, ok := strings.CutPrefix(err.Error(), unknownField); ok {
		name := strings.Trim(quotedName, `"`)
		want := "a documented field"
		if near := nearest.Word(name, fieldNames(target)); near != "" {
			want = near
		}
		return wrong(http.StatusBadRequest, codeUnknownField, name, "", want)
	}
	return wrong(http.StatusBadRequest, codeMalformed, "", "", "a whole JSON document")
}

// jsonKind names a Go type as JSON does.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	default:
		return "an object"
	}
}

// fieldNames are the names of all fields of a document, those within others
// included.
func fieldNames(t reflect.Type) []string {
	var names []string
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		names = append(names, fieldNames(t.Field(i).Type)...)
	}
	return names
}

// bodyProblem says why a body could not be read.
func bodyProblem(err error) *problem {
	if known, ok := errors.AsType[*problem](err); ok {
		return known
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return wrong(http.StatusRequestEntityTooLarge, codeTooLarge, "", "", fmt.Sprintf("a body of at most %d bytes", tooLarge.Limit))
	}
	return wrong(http.StatusBadRequest, codeMalformed, "", "", "a body that arrives whole")
}
