package config

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rule is what a variable accepts: a text for a person, and a check that
// returns what is wrong with a value ("" when nothing is).
type rule struct {
	text  string
	check func(text string, v reflect.Value) string
}

// newRule reads an accept tag:
//
//	1s..1m          a range, both ends included; the ends are of the field's type
//	oneof:json|text one of the words
//	url:http|https  a URL with one of the schemes
//	topic, address, name, prefix, names, file, text, key, keys   see the functions below
//
// An accept tag that cannot be read accepts nothing, and a unit test loads
// every default.
func newRule(accept string, t reflect.Type) rule {
	kind, rest, _ := strings.Cut(accept, ":")
	switch kind {
	case "oneof":
		return oneOf(strings.Split(rest, "|"))
	case "url":
		return urlOf(strings.Split(rest, "|"), t)
	}
	if r, ok := namedRules[accept]; ok {
		return r
	}
	low, high, _ := strings.Cut(accept, "..")
	switch t {
	case reflect.TypeFor[time.Duration]():
		return within(low, high, time.ParseDuration)
	case reflect.TypeFor[float64]():
		return within(low, high, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	default:
		return within(low, high, strconv.Atoi)
	}
}

// within accepts low to high, both included.
func within[T cmp.Ordered](low, high string, parse func(string) (T, error)) rule {
	from, errFrom := parse(low)
	to, errTo := parse(high)
	return rule{text: low + " to " + high, check: func(_ string, v reflect.Value) string {
		n, ok := v.Interface().(T)
		switch {
		case !ok || errFrom != nil || errTo != nil:
			return "has no readable range"
		case n < from:
			return "is too small"
		case n > to:
			return "is too large"
		default: // not a number (NaN) compares false with everything
			if n >= from && n <= to {
				return ""
			}
			return "is not a number"
		}
	}}
}

func oneOf(words []string) rule {
	return rule{text: strings.Join(words, ", "), check: func(text string, _ reflect.Value) string {
		if slices.Contains(words, text) {
			return ""
		}
		if near := Nearest(text, words); near != "" {
			return fmt.Sprintf("is not accepted; did you mean %s?", near)
		}
		return "is not accepted"
	}}
}

// urlOf judges by the text: a URL of several hosts, as brokers and stores
// take it, is none to net/url.
func urlOf(schemes []string, t reflect.Type) rule {
	secret := t == reflect.TypeFor[SecretURL]()
	return rule{text: strings.Join(schemes, "://, ") + "://", check: func(text string, _ reflect.Value) string {
		scheme, rest, found := strings.Cut(text, "://")
		authority, _, _ := strings.Cut(rest, "/")
		authority, _, _ = strings.Cut(authority, "?")
		hosts := authority[strings.LastIndex(authority, "@")+1:]
		switch {
		case !found:
			return "is not a URL"
		case !slices.Contains(schemes, scheme):
			return "has another scheme"
		case hosts == "" && scheme != "unix":
			return "names no host"
		case !secret && strings.Contains(rest, "@"):
			return "must not hold a user or a password"
		case !secret && strings.ContainsAny(rest, "?#"):
			return "must not hold a query"
		}
		return ""
	}}
}

// namedRules are the forms that several variables share or that have no
// parameter.
var namedRules = map[string]rule{
	"topic":    matching("persistent://tenant/namespace/topic", `^persistent://[\w.=:-]+/[\w.=:-]+/[\w.=:%-]+$`, "is not a full topic name"),
	"name":     matching("letters, digits, '.', '_', '-'; at most 100", `^[A-Za-z0-9._-]{1,100}$`, "holds other characters or is too long"),
	"names":    {text: "words separated by commas", check: checkNames},
	"networks": {text: "networks such as 10.0.0.0/8,fd00::/8", check: func(string, reflect.Value) string { return "" }},
	"sources":  {text: "sources such as https: or https://wework.qpic.cn, separated by commas", check: checkSources},
	"roles":    {text: "roles: WHO=SCOPE,WHO=SCOPE", check: func(string, reflect.Value) string { return "" }},
	// Braces would change which slot of a Redis Cluster a key falls into.
	"prefix":  matching("letters, digits, '.', '_', '-', ':'; at most 50", `^[A-Za-z0-9._:-]{1,50}$`, "holds other characters or is too long"),
	"address": {text: "host:port or :port", check: checkAddress},
	"file":    {text: "a file that can be read", check: checkFile},
	"text":    {text: "any text", check: func(string, reflect.Value) string { return "" }},
	"secret":  {text: "any text", check: func(string, reflect.Value) string { return "" }},
	"key":     {text: "32 bytes in base64 (openssl rand -base64 32)", check: func(string, reflect.Value) string { return "" }},
	"keys":    {text: "id:key,id:key with 32 bytes in base64 each (openssl rand -base64 32)", check: func(string, reflect.Value) string { return "" }},
}

func matching(text, pattern, problem string) rule {
	re := regexp.MustCompile(pattern)
	return rule{text: text, check: func(value string, _ reflect.Value) string {
		if re.MatchString(value) {
			return ""
		}
		return problem
	}}
}

func checkNames(text string, _ reflect.Value) string {
	for word := range strings.SplitSeq(text, ",") {
		if word == "" || word != strings.TrimSpace(word) {
			return "holds an empty word or a space"
		}
	}
	return ""
}

func checkAddress(text string, _ reflect.Value) string {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return "is not host:port"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "has no port number from 0 to 65535"
	}
	return ""
}

func checkFile(text string, _ reflect.Value) string {
	f, err := os.DirFS(filepath.Dir(text)).Open(filepath.Base(text))
	if err != nil {
		return "cannot be read"
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return "is not a file"
	}
	return ""
}
