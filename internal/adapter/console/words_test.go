package console

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var verb = regexp.MustCompile(`%[sdvq]`)

func TestEveryWordIsThereInEachLanguage(t *testing.T) {
	for key, p := range words {
		if strings.TrimSpace(p.en) == "" || strings.TrimSpace(p.zh) == "" {
			t.Errorf("%s: %q, %q", key, p.en, p.zh)
		}
		if en, zh := verb.FindAllString(p.en, -1), verb.FindAllString(p.zh, -1); strings.Join(en, "") != strings.Join(zh, "") {
			t.Errorf("%s takes %q in English and %q in Chinese", key, en, zh)
		}
	}
}

// keys that a page puts together of a word and a value.
var made = []string{
	"look.", "nav.", "dirty.state.", "fanout.", "severity.", "role.", "mode.", "lane.", "family.", "presence.", "decision.", "do.", "field.", "option.",
	"part.", "place.",
}

func TestEveryKeyOfAPageIsAWord(t *testing.T) {
	used := map[string]bool{}
	for _, pattern := range []string{"pages/*.html", "*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "words.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range regexp.MustCompile(`"([a-z]+(?:\.[a-z0-9_-]+)+)"`).FindAllStringSubmatch(string(source), -1) {
				used[match[1]] = true
			}
			for _, match := range regexp.MustCompile(`\bt "([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
				used[match[1]] = true
				if _, there := words[match[1]]; !there {
					t.Errorf("%s says %q, which is no word", file, match[1])
				}
			}
		}
	}
	for key := range words {
		if !used[strings.TrimSuffix(key, ".text")] && !slices.ContainsFunc(made, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			t.Errorf("nothing says %q", key)
		}
	}
	for name, one := range deeds {
		for _, key := range []string{"do." + name, "do." + name + ".will"} {
			if _, there := words[key]; !there {
				t.Errorf("%q is no word", key)
			}
		}
		for _, f := range one.fields {
			for _, option := range f.Options {
				if _, there := words["option."+f.Name+"."+option]; !there {
					t.Errorf("the option %s of %s has no word", option, f.Name)
				}
			}
		}
	}
}

// constants are the values of a type's constants in a file.
func constants(t *testing.T, file, of string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		name, isName := spec.Type.(*ast.Ident)
		value, isText := spec.Values[0].(*ast.BasicLit)
		if isName && isText && name.Name == of {
			text, err := strconv.Unquote(value.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		return true
	})
	if len(all) == 0 {
		t.Fatalf("no constants of %s in %s", of, file)
	}
	return all
}

func TestTheWholeVocabularyHasWords(t *testing.T) {
	for _, why := range constants(t, "../../reason/reason.go", "Reason") {
		if p := reasonWords[reason.Reason(why)]; p.en == "" || p.zh == "" {
			t.Errorf("the reason %s has no words", why)
		}
	}
	for _, action := range constants(t, "../../decision/decision.go", "Action") {
		if _, there := words["decision."+action]; !there {
			t.Errorf("the action %s has no words", action)
		}
	}
	for _, what := range constants(t, "../../intervene/point.go", "What") {
		if pointWords[intervene.What(what)] == "" {
			t.Errorf("the point %s has no Chinese words", what)
		}
	}
	for _, role := range constants(t, "../../board/report.go", "Role") {
		if _, there := words["role."+role]; !there {
			t.Errorf("the role %s has no words", role)
		}
	}
	for _, part := range constants(t, "../../board/view.go", "Part") {
		if _, there := words["part."+part]; !there {
			t.Errorf("the part %s has no words", part)
		}
	}
	for _, place := range []string{"broker", "dirty_set", "fan_out", "not_needed"} {
		if _, there := words["place."+place]; !there {
			t.Errorf("the place %s has no words", place)
		}
	}
}

// latin is a word of English, but for names.
var latin = regexp.MustCompile(`[a-z]{3,}`)

func TestFactsInChinese(t *testing.T) {
	for _, text := range []string{
		"5 of 5 additions on this code", "5 of 5 additions on this code today", "5 of 5 additions in round 3", "5 of 50 additions today, over all codes",
		"1 of 9 ever", "1 of 5 today", "1 of 9 ever, 1 of 5 today", "1 of 9 ever, 1 of 5 today, 2 of 3 this round, 4 of 50 today over all codes", "2 of 3 this round",
		"his online flag says offline", "he has no shift now, by the clock of UTC", "WeCom refuses him; he is tried again at 2026-11-30 12:00:00",
		"he reached a ceiling and is off every list until midnight, UTC", "the code names him, and no such staff member is known", "the code does not name him",
		"taken off every list since 2026-11-30 12:00:00, until it is released, by LN: X", "taken off every list since 2026-11-30 12:00:00, until 2026-11-30 13:00:00, by LN: X",
		"the list at WeCom stays as it is since 2026-11-30 12:00:00, until it is released, by LN: X", "the code has no contact way at WeCom yet",
		"another system writes the list; Rollcall only notes what its own would be", "WeCom answered 45009 and refuses the tenant's calls until then",
		"a slot of the tenant's calls is booked for the code", "the code is in the slow lane: one push in 5M", "WeCom takes 100 members",
	} {
		said := strings.NewReplacer("Rollcall", "").Replace(chinese.detail(text))
		if said == text || latin.MatchString(said) {
			t.Errorf("%q becomes %q", text, said)
		}
		if english.detail(text) != text {
			t.Errorf("%q is changed in English", text)
		}
	}
	for text, want := range map[string]string{
		"the list still has amy (at_daily_limit), bob (offline) and lacks cleo (eligible)": "列表仍有 amy (达到活码每日上限), bob (离线)，缺少 cleo (可接待)",
		"the list lacks a)b(c (no member)":                                                 "列表缺少 a)b(c (no member)",
	} {
		if got := chinese.finding(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := english.finding("the list still has amy (offline)"); got != "the list still has amy (off line)" {
		t.Errorf("in English: %q", got)
	}
	if got := chinese.detail("something new"); got != "something new" {
		t.Errorf("what nobody has translated becomes %q", got)
	}
	for _, line := range story(noon).Staff {
		if line.Detail != "" && chinese.detail(line.Detail) == line.Detail {
			t.Errorf("%q has no Chinese", line.Detail)
		}
	}
}

func TestPointsInChinese(t *testing.T) {
	p := intervene.Point{What: intervene.Keeps, Count: 3, More: true, Until: noon}
	if got, want := chinese.point(p), "超过 3 个列表在企业微信上保持不变，直到 2026-11-30 04:00 UTC"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if english.point(p) != p.String() {
		t.Error("English says something else than the command")
	}
}

func TestPreferredLanguage(t *testing.T) {
	for header, want := range map[string]lang{
		"zh-CN,zh;q=0.9,en;q=0.8": chinese, "en-GB,en": english, "de,zh;q=0.5": chinese, "de": english, "": english, "ZH-tw": chinese,
	} {
		if got := preferred(header); got != want {
			t.Errorf("%q prefers %s, want %s", header, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 210 * time.Millisecond: "210 ms", 1400 * time.Millisecond: "1.4 s", 42 * time.Second: "42 s", 95 * time.Second: "1 min 35 s",
		2 * time.Hour: "2 h", 26*time.Hour + 5*time.Minute: "1 d 2 h",
	} {
		if got := english.span(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	if got := english.ago(-time.Hour); got != "just now" {
		t.Errorf("a clock that is ahead: %q", got)
	}
	for n, want := range map[any]string{0: "0", 999: "999", 1234567: "1\u202f234\u202f567", -1234: "-1\u202f234", int64(1000): "1\u202f000"} {
		if got := num(n); got != want {
			t.Errorf("%v is %q, want %q", n, got, want)
		}
	}
	if zoneOf(roster.Tenant{TimeZone: "Mars"}) != time.UTC {
		t.Error("a zone that is none")
	}
}
