package config

import (
	"reflect"
	"strings"
	"time"
)

// Section is the reference of one concern.
type Section struct {
	Concern   Concern
	About     string
	Variables []Variable
}

// Variable is the reference of one environment variable.
type Variable struct {
	Name     string
	Type     string // "duration", "integer", "number", "text", "list", "URL", "secret", "secret URL"
	Default  string // for a person; "" when there is none
	Computed bool   // Default describes a value instead of being it
	Accepted string
	Required bool // by the roles that need the concern
	What     string
}

// Reference describes every variable, by concern, from the tags that [Load]
// works with.
func Reference() []Section {
	var sections []Section
	root := reflect.TypeFor[Config]()
	for _, f := range fields(&Config{}) {
		if len(sections) == 0 || sections[len(sections)-1].Concern != f.Concern {
			concern, _ := root.FieldByName(string(f.Concern))
			sections = append(sections, Section{Concern: f.Concern, About: concern.Tag.Get("about")})
		}
		last := &sections[len(sections)-1]
		last.Variables = append(last.Variables, f.variable())
	}
	return sections
}

func (f field) variable() Variable {
	shown := f.tag.Get("default")
	if computed := f.tag.Get("shown"); computed != "" {
		shown = computed
	}
	kind := typeName(f.into.Type())
	if kind == "text" && strings.HasPrefix(f.tag.Get("accept"), "url:") {
		kind = "URL"
	}
	return Variable{
		Name:     f.Name,
		Type:     kind,
		Default:  shown,
		Computed: f.tag.Get("shown") != "",
		Accepted: f.rule.text,
		Required: f.tag.Get("required") == "true",
		What:     f.tag.Get("desc"),
	}
}

// typeName is the type of a field in an operator's words.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.TypeFor[int]():
		return "integer"
	case reflect.TypeFor[float64]():
		return "number"
	case reflect.TypeFor[[]string]():
		return "list"
	case reflect.TypeFor[Secret](), reflect.TypeFor[SealKey](), reflect.TypeFor[SealKeys]():
		return "secret"
	case reflect.TypeFor[SecretURL]():
		return "secret URL"
	default:
		return "text"
	}
}
