package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// Files are JSON schemas by file name, as kubeconform looks for them:
// "<kind>-<first part of the group>-<version>.json" in lower case, without a
// group for the core API.
type Files map[string][]byte

type object = map[string]any

const (
	definitions = "definitions"
	refPrefix   = "#/" + definitions + "/"
	quantity    = "io.k8s.apimachinery.pkg.api.resource.Quantity"
)

// Kubernetes returns a schema for each kind of an OpenAPI 2 document as the
// sources of Kubernetes hold it (api/openapi-spec/swagger.json).
func Kubernetes(swagger []byte) (Files, error) {
	var document struct {
		Definitions map[string]object `json:"definitions"`
	}
	if err := json.Unmarshal(swagger, &document); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	converted := make(map[string]object, len(document.Definitions))
	for name, definition := range document.Definitions {
		converted[name] = strict.schema(definition)
	}
	converted[quantity] = object{"type": []any{"string", "number"}}

	files := Files{}
	for name, definition := range document.Definitions {
		kind, ok := kindOf(definition)
		if !ok {
			continue
		}
		root := kind.root(converted[name])
		if used := reachable(root, converted); len(used) > 0 {
			root[definitions] = used
		}
		if err := files.add(kind, root); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, errors.New("the OpenAPI document describes no kind")
	}
	return files, nil
}

// CustomResource returns a schema for each version of a custom resource
// definition, in YAML.
func CustomResource(definition []byte) (Files, error) {
	var crd struct {
		Spec struct {
			Group string
			Names struct{ Kind string }

			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema object `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(definition, &crd); err != nil {
		return nil, fmt.Errorf("read the custom resource definition: %w", err)
	}
	files := Files{}
	for _, version := range crd.Spec.Versions {
		kind := kind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
		if err := files.add(kind, kind.root(strict.schema(version.Schema.OpenAPIV3Schema))); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, errors.New("the custom resource definition has no version")
	}
	return files, nil
}

func (f Files) add(kind kind, root object) error {
	text, err := json.Marshal(root)
	if err != nil {
		return fmt.Errorf("write the schema of %s: %w", kind.Kind, err)
	}
	f[kind.file()] = text
	return nil
}

// A kind is a group, a version and a name, as definitions carry them.
type kind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// kindOf returns the kind that a definition describes. Definitions that many
// kinds share (options, status) describe none that a manifest could have.
func kindOf(definition object) (kind, bool) {
	text, err := json.Marshal(definition["x-kubernetes-group-version-kind"])
	if err != nil {
		return kind{}, false
	}
	var kinds []kind
	if json.Unmarshal(text, &kinds) != nil || len(kinds) != 1 {
		return kind{}, false
	}
	return kinds[0], true
}

// file is where kubeconform looks for the schema.
func (k kind) file() string {
	group, _, _ := strings.Cut(k.Group, ".")
	parts := []string{k.Kind, group, k.Version}
	if group == "" {
		parts = []string{k.Kind, k.Version}
	}
	return strings.ToLower(strings.Join(parts, "-")) + ".json"
}

// root is the schema of a whole manifest: it says what it is.
func (k kind) root(schema object) object {
	root := object{}
	for keyword, value := range schema {
		root[keyword] = value
	}
	properties := object{}
	if known, ok := root["properties"].(object); ok {
		for name, property := range known {
			properties[name] = property
		}
	}
	properties["kind"] = object{"const": k.Kind}
	properties["apiVersion"] = object{"const": strings.TrimPrefix(k.Group+"/"+k.Version, "/")}
	required, _ := root["required"].([]any)
	root["properties"] = properties
	root["required"] = append([]any{"apiVersion", "kind"}, required...)
	return root
}

// reachable returns the definitions that a schema refers to, and those that
// they refer to.
func reachable(root object, all map[string]object) object {
	used := object{}
	var visit func(node any)
	visit = func(node any) {
		switch node := node.(type) {
		case object:
			if ref, ok := node["$ref"].(string); ok {
				name := strings.TrimPrefix(ref, refPrefix)
				if _, seen := used[name]; !seen {
					used[name] = all[name]
					visit(all[name])
				}
			}
			for _, value := range node {
				visit(value)
			}
		case []any:
			for _, value := range node {
				visit(value)
			}
		}
	}
	visit(root)
	return used
}
