package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sections are what every page has, in this order.
var sections = []string{"Meaning", "Who feels it", "First look", "What to do", "What not to do", "When it is over", "Related alerts"}

func TestEachAlertHasAPageAndEachPageAnAlert(t *testing.T) {
	severity := alerts(t)
	pages := readAll(t, runbookDir, "Rollcall*.md")
	index := readAll(t, runbookDir, "README.md")["README.md"]
	for name, s := range severity {
		page, ok := pages[name+".md"]
		if !ok {
			t.Errorf("%s has no page", name)
			continue
		}
		if !strings.HasPrefix(page, "# "+name+"\n\n*"+s+"*\n") {
			t.Errorf("the page of %s does not begin with its name and %q", name, s)
		}
		if !strings.Contains(index, "| ["+name+"]("+name+".md) |") {
			t.Errorf("%s is not in the index", name)
		}
	}
	for file := range pages {
		if severity[strings.TrimSuffix(file, ".md")] == "" {
			t.Errorf("%s is about no alert", file)
		}
	}
}

func TestPagesHaveTheirSections(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^## (.+)$`)
	for file, page := range readAll(t, runbookDir, "Rollcall*.md") {
		var got []string
		for _, h := range heading.FindAllStringSubmatch(page, -1) {
			got = append(got, h[1])
		}
		if !slices.Equal(got, sections) {
			t.Errorf("%s has the sections %v, want %v", file, got, sections)
		}
		for i, body := range heading.Split(page, -1)[1:] {
			if len(strings.TrimSpace(body)) < 10 {
				t.Errorf("%s: nothing under %s", file, sections[i])
			}
		}
	}
}

// What a page says of other alerts is what Alertmanager does.
func TestPagesNameWhatExplainsThem(t *testing.T) {
	pages := readAll(t, runbookDir, "Rollcall*.md")
	related := func(name string) string {
		_, text, _ := strings.Cut(pages[name+".md"], "## Related alerts")
		return text
	}
	line := func(text, begins string) string {
		for l := range strings.Lines(text) {
			if strings.HasPrefix(l, "- "+begins+" ") {
				return l
			}
		}
		return ""
	}
	link := regexp.MustCompile(`\[(Rollcall\w+)\]`)
	explains, explained := map[string][]string{}, map[string][]string{}
	for source, muted := range mutes(t) {
		for _, name := range muted {
			explains[source] = append(explains[source], name)
			explained[name] = append(explained[name], source)
		}
	}
	for name := range alerts(t) {
		for begins, want := range map[string][]string{"Explains": explains[name], "Explained by": explained[name]} {
			var got []string
			for _, found := range link.FindAllStringSubmatch(line(related(name), begins), -1) {
				got = append(got, found[1])
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, slices.Compact(want)) {
				t.Errorf("%s, %s:\n the page %v\n the rules %v", name, begins, got, want)
			}
		}
	}
}

func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for file, page := range readAll(t, runbookDir, "*.md") {
		for _, found := range link.FindAllStringSubmatch(page, -1) {
			if _, err := os.Stat(filepath.Join(runbookDir, found[1])); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
