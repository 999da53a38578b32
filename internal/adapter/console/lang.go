package console

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// lang is a language that the console speaks.
type lang string

const (
	english lang = "en"
	chinese lang = "zh"
)

var langs = []lang{english, chinese}

func langOf(name string) (lang, bool) {
	for _, l := range langs {
		if name == string(l) {
			return l, true
		}
	}
	return english, false
}

// Tag is the language's tag (BCP 47).
func (l lang) Tag() string { return l.tag() }

func (l lang) tag() string {
	if l == chinese {
		return "zh-CN"
	}
	return "en"
}

// phrase is a text in each language. It may hold fmt's verbs, in the same order.
type phrase struct{ en, zh string }

func (p phrase) in(l lang) string {
	if l == chinese {
		return p.zh
	}
	return p.en
}

// say returns the text of a key. A text that is no key is shown as it is: a page
// is better with a word that nobody has translated than without.
func (l lang) say(key any, args ...any) string {
	name := fmt.Sprint(key)
	p, there := words[name]
	switch {
	case !there:
		return name
	case len(args) == 0:
		return p.in(l)
	}
	return fmt.Sprintf(p.in(l), args...)
}

// reason is a reason in words; one that is none, such as a producer's own word for
// a fan-out, is shown as it is.
func (l lang) reason(why any) string {
	name := fmt.Sprint(why)
	if p, there := reasonWords[reason.Reason(name)]; there {
		return p.in(l)
	}
	return name
}

// action is what was decided.
func (l lang) action(name string) string { return l.say("decision." + name) }

// points are what an order leads to, or what is said against it.
func (l lang) points(all []intervene.Point) []string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = l.point(p)
	}
	return texts
}

func (l lang) point(p intervene.Point) string {
	words, there := pointWords[p.What]
	if l == english || !there {
		return p.String()
	}
	count := fmt.Sprint(p.Count)
	if p.More {
		count = "超过 " + count
	}
	until := "直到有人解除"
	if !p.Until.IsZero() {
		until = "直到 " + p.Until.UTC().Format("2006-01-02 15:04 UTC")
	}
	return strings.NewReplacer("{n}", count, "{names}", strings.Join(p.Names, "、"), "{for}", l.span(p.For), "{until}", until).Replace(words)
}

// orderError is why an order means nothing.
func (l lang) orderError(err error) string {
	switch {
	case errors.Is(err, intervene.ErrNothing):
		return l.say("order.nothing")
	case errors.Is(err, intervene.ErrDeleted):
		return l.say("order.deleted")
	}
	return err.Error()
}
