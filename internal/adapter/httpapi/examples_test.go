package httpapi_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The examples of a page, run one after the other, answer what the page says they
// do.
func TestTheExamplesOfTheDocumentationAreTrue(t *testing.T) {
	for page, least := range map[string]int{"api.md": 10, "shadow.md": 4} {
		t.Run(page, func(t *testing.T) { runExamples(t, page, least) })
	}
}

func runExamples(t *testing.T, name string, least int) {
	page, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```sh\n(.*?)```\n(?:```json\n(.*?)```)?").FindAllStringSubmatch(string(page), -1)
	if len(examples) < least {
		t.Fatalf("%d examples are found", len(examples))
	}
	r := newRig(t)
	for _, example := range examples {
		got := r.do(t, curl(t, example[1]))
		if example[2] == "" {
			if got.status != 200 {
				t.Errorf("%s\nanswers %d %s", example[1], got.status, got.body)
			}
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(example[2]), &want); err != nil {
			t.Fatalf("%s\n%v", example[2], err)
		}
		if diff := cmp.Diff(want, into[any](t, got)); diff != "" {
			t.Errorf("%s\n(-the page +the API):\n%s", example[1], diff)
		}
	}
}

// curl reads a command of the documentation.
func curl(t *testing.T, command string) call {
	t.Helper()
	c := call{method: "GET"}
	words := shellWords(strings.ReplaceAll(command, "\\\n", " "))
	for i := 1; i < len(words); i++ {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch words[i] {
		case "-sS":
			continue
		case "-X":
			c.method = next
		case "-d", "--data-binary":
			c.body = next
		case "-H":
			name, value, _ := strings.Cut(next, ": ")
			switch name {
			case "Authorization":
				c.authorization = strings.ReplaceAll(value, "$TOKEN", everything)
			case "Content-Type":
				c.media = value
			case "Idempotency-Key":
				c.key = value
			default:
				t.Fatalf("header %s of %s", name, command)
			}
		default:
			path, found := strings.CutPrefix(words[i], "$ROLLCALL")
			if !found {
				t.Fatalf("%q of %s", words[i], command)
			}
			c.path = path
			continue
		}
		i++
	}
	return c
}

// shellWords splits a command as a shell does, as far as the documentation needs
// it: words, '…' and "…".
func shellWords(command string) []string {
	var words []string
	for _, word := range regexp.MustCompile(`(?s)'[^']*'|"[^"]*"|\S+`).FindAllString(command, -1) {
		words = append(words, strings.Trim(word, `'"`))
	}
	return words
}
