package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const swagger = `{"definitions": {
  "core.Pod": {
    "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}],
    "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "spec": {"$ref": "#/definitions/core.PodSpec"}}
  },
  "core.PodSpec": {
    "description": "What a pod is.", "required": ["port"],
    "properties": {
      "port": {"type": "string", "format": "int-or-string"},
      "limits": {"type": "object", "additionalProperties": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"}},
      "format": {"type": "string"},
      "next": {"$ref": "#/definitions/core.PodSpec"}
    }
  },
  "apps.Scale": {
    "x-kubernetes-group-version-kind": [{"group": "apps.k8s.io", "version": "v1beta1", "kind": "Scale"}],
    "properties": {}
  },
  "meta.Options": {
    "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Options"}, {"group": "apps", "version": "v1", "kind": "Options"}]
  },
  "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"}
}}`

func read(t *testing.T, files Files, name string) object {
	t.Helper()
	var schema object
	if err := json.Unmarshal(files[name], &schema); err != nil {
		t.Fatalf("read %s of %d files: %v", name, len(files), err)
	}
	return schema
}

func TestKubernetesHasOneFileForEachKind(t *testing.T) {
	files, err := Kubernetes([]byte(swagger))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"pod-v1.json", "scale-apps-v1beta1.json"}, names); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
}

func TestKubernetesKeepsWhatAManifestIsHeldTo(t *testing.T) {
	files, err := Kubernetes([]byte(swagger))
	if err != nil {
		t.Fatal(err)
	}
	want := object{
		"required": []any{"apiVersion", "kind"},
		"properties": object{
			"apiVersion": object{"const": "v1"}, "kind": object{"const": "Pod"}, "spec": object{"$ref": "#/definitions/core.PodSpec"},
		},
		"additionalProperties": false,
		"definitions": object{
			"core.PodSpec": object{
				"required": []any{"port"},
				"properties": object{
					"port":   object{"type": []any{"integer", "string"}},
					"limits": object{"type": "object", "additionalProperties": object{"$ref": "#/definitions/" + quantity}},
					"format": object{"type": "string"},
					"next":   object{"$ref": "#/definitions/core.PodSpec"},
				},
				"additionalProperties": false,
			},
			quantity: object{"type": []any{"string", "number"}},
		},
	}
	if diff := cmp.Diff(want, read(t, files, "pod-v1.json")); diff != "" {
		t.Errorf("the schema of a pod (-want +got)\n%s", diff)
	}
}

const definition = `
spec:
  group: keda.sh
  names: {kind: ScaledObject}
  versions:
    - name: v1alpha1
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            metadata: {type: object}
            spec:
              type: object
              properties:
                open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}
                port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
                none: {type: string, nullable: true, format: duration}
              oneOf:
                - properties: {port: {minimum: 1}}
`

func TestCustomResourceIsClosedWhereItIsNotOpen(t *testing.T) {
	files, err := CustomResource([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	want := object{
		"type": "object", "required": []any{"apiVersion", "kind", "spec"},
		"properties": object{
			"apiVersion": object{"const": "keda.sh/v1alpha1"}, "kind": object{"const": "ScaledObject"},
			"metadata": object{"type": "object"},
			"spec": object{
				"type": "object",
				"properties": object{
					"open": object{"type": "object", "properties": object{"a": object{"type": "string"}}},
					"port": object{"type": []any{"integer", "string"}},
					"none": object{"type": []any{"string", "null"}},
				},
				"additionalProperties": false,
				"oneOf":                []any{object{"properties": object{"port": object{"minimum": 1.0}}}},
			},
		},
		"additionalProperties": false,
	}
	if diff := cmp.Diff(want, read(t, files, "scaledobject-keda-v1alpha1.json")); diff != "" {
		t.Errorf("the schema of a custom resource (-want +got)\n%s", diff)
	}
}

func TestDocumentsWithoutAKindAreErrors(t *testing.T) {
	for name, turn := range map[string]func() (Files, error){
		"no JSON":       func() (Files, error) { return Kubernetes([]byte("{")) },
		"no definition": func() (Files, error) { return Kubernetes([]byte(`{"definitions": {}}`)) },
		"no YAML":       func() (Files, error) { return CustomResource([]byte("a: [")) },
		"no version":    func() (Files, error) { return CustomResource([]byte("spec: {group: a}")) },
	} {
		if files, err := turn(); err == nil || strings.TrimSpace(err.Error()) == "" {
			t.Errorf("%s: %v and %v, want an error", name, files, err)
		}
	}
}
