package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/kelseyhightower/envconfig"
)

// field is one variable with the place its value goes to. Its tags:
//
//	envconfig  the full name, so that it can be searched for
//	default    the value when it is not set
//	required   "true": has to be set when the concern is needed
//	accept     the values accepted, see [newRule]
//	shown      the default for a person, where it is computed
//	desc       what it is
type field struct {
	Concern Concern
	Name    string
	tag     reflect.StructTag
	goName  string
	into    reflect.Value
	rule    rule
}

func newField(concern Concern, sf reflect.StructField, into reflect.Value) field {
	return field{
		Concern: concern,
		Name:    sf.Tag.Get("envconfig"),
		tag:     sf.Tag,
		goName:  sf.Name,
		into:    into,
		rule:    newRule(sf.Tag.Get("accept"), sf.Type),
	}
}

// load parses and checks the variable; false comes with the mistake.
func (f field) load(needs []Concern) (Mistake, bool) {
	text := os.Getenv(f.Name)
	if text == "" && f.tag.Get("default") == "" {
		if f.tag.Get("required") == "true" && slices.Contains(needs, f.Concern) {
			return f.mistake("is not set and has no default"), false
		}
		return Mistake{}, true
	}
	if err := f.parse(text); err != nil {
		return f.mistake(f.explain(err)), false
	}
	if text == "" {
		text = f.tag.Get("default")
	}
	if problem := f.rule.check(text, f.into); problem != "" {
		return f.mistake(problem), false
	}
	return Mistake{}, true
}

// parse lets envconfig convert this field alone: over a whole struct it would
// stop at the first mistake.
func (f field) parse(text string) error {
	name := f.Name
	if text == "" {
		name += "=" // no variable has such a name, so the default is taken
	}
	one := reflect.New(reflect.StructOf([]reflect.StructField{{
		Name: f.goName,
		Type: f.into.Type(),
		Tag:  reflect.StructTag(fmt.Sprintf(`envconfig:%q default:%q`, name, f.tag.Get("default"))),
	}}))
	err := envconfig.Process("", one.Interface())
	if parse, ok := errors.AsType[*envconfig.ParseError](err); ok {
		return parse.Err // without the value, which its message holds
	}
	if err != nil {
		return err
	}
	f.into.Set(one.Elem().Field(0))
	return nil
}

// explain says what is wrong without the value, which the mistake shows, or
// hides, by itself.
func (f field) explain(err error) string {
	if told, ok := errors.AsType[*valueError](err); ok {
		return told.problem
	}
	switch f.into.Interface().(type) {
	case time.Duration:
		return "is not a duration such as 500ms, 15s or 2m"
	case int:
		return "is not a whole number"
	case float64:
		return "is not a number such as 0.1"
	default: // a type with words of its own, such as a log level
		return cmp.Or(f.rule.check(os.Getenv(f.Name), f.into), "is not accepted")
	}
}

// valueError is a conversion's own word on what is wrong. It never holds the
// value.
type valueError struct{ problem string }

func (e *valueError) Error() string { return e.problem }

func (f field) mistake(problem string) Mistake {
	return Mistake{Name: f.Name, Value: f.display(), Problem: problem, Accepted: f.rule.text}
}

// display shows what the variable is set to, as far as it may be seen.
func (f field) display() string {
	text := os.Getenv(f.Name)
	if text == "" {
		return ""
	}
	switch f.into.Interface().(type) {
	case Secret, SealKey, SealKeys:
		return Redacted
	case SecretURL:
		return redactURL(text)
	}
	// Somebody may have put a password into a URL that must hold none.
	if strings.HasPrefix(f.tag.Get("accept"), "url:") {
		return redactURL(text)
	}
	return text
}
