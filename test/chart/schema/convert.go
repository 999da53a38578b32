package schema

// A converter turns the schema objects of OpenAPI into JSON Schema.
type converter struct {
	closing bool // objects with properties have no others
}

var (
	strict = converter{closing: true}
	// Alternatives (oneOf and its like) say more about an object whose
	// properties stand elsewhere, so they close nothing.
	alternative = converter{}
)

// Keywords that mean the same in both, and whose values are no schemas.
// Formats are left to the API server, and descriptions to people.
var plain = []string{
	"$ref", "type", "enum", "required", "pattern", "minimum", "maximum", "minLength", "maxLength",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
}

func (c converter) schema(from object) object {
	if from["format"] == "int-or-string" || from["x-kubernetes-int-or-string"] == true {
		return object{"type": []any{"integer", "string"}}
	}
	to := object{}
	for _, keyword := range plain {
		if value, ok := from[keyword]; ok {
			to[keyword] = value
		}
	}
	if kind, ok := to["type"].(string); ok && from["nullable"] == true {
		to["type"] = []any{kind, "null"}
	}
	c.properties(from, to)
	for _, keyword := range []string{"items", "not"} {
		if inner, ok := from[keyword].(object); ok {
			to[keyword] = c.schema(inner)
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := from[keyword].([]any); ok {
			to[keyword] = alternatives(list)
		}
	}
	return to
}

// properties converts the properties of an object and says whether it may have
// others.
func (c converter) properties(from, to object) {
	if properties, ok := from["properties"].(object); ok {
		converted := object{}
		for name, property := range properties {
			if inner, ok := property.(object); ok {
				converted[name] = c.schema(inner)
			}
		}
		to["properties"] = converted
		if c.closing && from["x-kubernetes-preserve-unknown-fields"] != true {
			to["additionalProperties"] = false
		}
	}
	switch others := from["additionalProperties"].(type) {
	case object:
		to["additionalProperties"] = c.schema(others)
	case bool:
		to["additionalProperties"] = others
	}
}

func alternatives(list []any) []any {
	converted := make([]any, 0, len(list))
	for _, item := range list {
		if inner, ok := item.(object); ok {
			converted = append(converted, alternative.schema(inner))
		}
	}
	return converted
}
