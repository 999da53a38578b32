package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/httpapi"
	"github.com/rollcall-dev/rollcall/internal/publish"
)

func importOf(kind string, body ...string) call {
	return call{method: "POST", path: acme + "/imports/" + kind, token: everything, body: strings.Join(body, "\n"), media: lines}
}

func staffLine(id string) string { return fmt.Sprintf(`{"staff":%q}`, id) }

func codeLine(id string) string {
	return fmt.Sprintf(`{"code":%q,"config_id":"cfg-%s","family":"native","members":[{"staff":"zhang.san"}]}`, id, id)
}

func TestImports(t *testing.T) {
	tests := map[string]struct {
		send call
		want imported
		said []string // what was announced
	}{
		"staff": {
			importOf("staff", staffLine("a"), `{"staff":"b","schedule":{"weekly":[]},"presence":"offline"}`, staffLine("zhang.san")),
			imported{LastLine: 3, Stored: 2, Unchanged: 1},
			[]string{"acme/a staff_imported", "acme/b staff_imported"},
		},
		"codes": {
			importOf("codes", codeLine("a"), codeLine("b")),
			imported{LastLine: 2, Stored: 2},
			[]string{"acme/a code_imported", "acme/b code_imported"},
		},
		"empty lines and Windows' line ends": {
			importOf("staff", "", staffLine("a")+"\r", "  ", ""),
			imported{LastLine: 3, Stored: 1},
			[]string{"acme/a staff_imported"},
		},
		"one ID twice: the later line counts": {
			importOf("staff", `{"staff":"a","presence":"online"}`, staffLine("b"), `{"staff":"a","presence":"offline"}`),
			imported{LastLine: 3, Stored: 3},
			[]string{"acme/a staff_imported", "acme/a staff_imported", "acme/b staff_imported"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			got := into[imported](t, r.want(t, test.send, 200))
			test.want.Errors = []lineError{}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			said := slices.Concat(r.events.sent, r.fanOuts.requested)
			slices.Sort(said)
			if diff := cmp.Diff(test.said, said); diff != "" {
				t.Errorf("announced (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("the later line", func(t *testing.T) {
		r := newRig(t)
		r.want(t, importOf("staff", `{"staff":"a","presence":"online"}`, `{"staff":"a","presence":"offline"}`), 200)
		if got := into[shown](t, r.do(t, get(acme+"/staff/a"))); got.Facts["presence"] != "offline" {
			t.Errorf("%v", got.Facts)
		}
	})
}

// Lines that are refused leave the others alone, and are told by number.
func TestRefusedLines(t *testing.T) {
	r := newRig(t)
	p := r.wantProblem(t, importOf("codes",
		codeLine("a"), `{"code":"b"`, codeLine("theirs"), `{"code":"c","family":"native","remarks":"x"}`,
		`{"code":"d","family":"native"}`, codeLine("e f"), codeLine("g"),
	), 422, "lines_refused")
	want := &imported{LastLine: 7, Stored: 2, Refused: 5, Errors: []lineError{
		{Line: 2, Code: "malformed", Want: "a whole JSON document"},
		{Line: 3, Code: "code_taken"},
		{Line: 4, Code: "unknown_field", Field: "remarks", Want: "remark"},
		{Line: 5, Code: "invalid_fact", Field: "config_id", Want: "a config_id to adopt, or contact_way.create"},
		{Line: 6, Code: "invalid_fact", Field: "code", Want: "1 to 128 of the characters A-Z a-z 0-9 . _ : -, not only dots"},
	}}
	slices.SortFunc(p.Import.Errors, func(a, b lineError) int { return a.Line - b.Line })
	if diff := cmp.Diff(want, p.Import); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.want(t, get(acme+"/codes/g"), 200)
}

func TestOfManyRefusedLinesSomeAreTold(t *testing.T) {
	r := newRig(t)
	p := r.wantProblem(t, importOf("staff", slices.Repeat([]string{"{}"}, 1200)...), 422, "lines_refused")
	if p.Import.Refused != 1200 || len(p.Import.Errors) != 100 || p.Import.LastLine != 1200 {
		t.Errorf("%d refused, %d told, last line %d", p.Import.Refused, len(p.Import.Errors), p.Import.LastLine)
	}
}

// A large import is stored in chunks. When it stops in the middle, the answer
// says where, and a repeat from there or from the start is right.
func TestAnImportThatStopsIsResumed(t *testing.T) {
	const all = 1300
	var body []string
	for i := range all {
		body = append(body, codeLine(fmt.Sprintf("n%04d", i)))
	}
	for name, from := range map[string]func(last int) int{
		"from there": func(last int) int { return last }, "from the start": func(int) int { return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.events.failAfter = 700
			p := r.wantProblem(t, importOf("codes", body...), 503, "import_stopped")
			last := p.Import.LastLine
			if last != 500 || p.Import.Stored != 500 {
				t.Fatalf("stopped after line %d, with %d stored", last, p.Import.Stored)
			}
			r.events.failAfter = 0
			got := into[imported](t, r.want(t, importOf("codes", body[from(last):]...), 200))
			if got.LastLine+from(last) != all {
				t.Errorf("%+v", got)
			}
			told := map[string]bool{}
			for _, event := range r.events.sent {
				told[event] = true
			}
			if len(told) != all {
				t.Errorf("%d of %d codes are announced", len(told), all)
			}
		})
	}
}

func TestAnImportWithoutABroker(t *testing.T) {
	r := newRig(t)
	r.events.place = publish.DirtySet
	if got := into[imported](t, r.want(t, importOf("codes", codeLine("a"), codeLine("b")), 200)); got.InDirtySet != 2 {
		t.Errorf("%+v", got)
	}
}

func TestImportsAreBounded(t *testing.T) {
	long := `{"staff":"` + strings.Repeat("x", 300<<10) + `"}`
	t.Run("a line", func(t *testing.T) {
		p := newRig(t).wantProblem(t, importOf("staff", staffLine("a"), long, staffLine("b")), 413, "too_large")
		if p.Field != "line 2" || p.Import.LastLine != 1 || p.Import.Stored != 1 {
			t.Errorf("%+v %+v", p, p.Import)
		}
	})
	t.Run("the body", func(t *testing.T) {
		line := `{"staff":"a","schedule":null` + strings.Repeat(" ", 200<<10) + `}`
		p := newRig(t).wantProblem(t, importOf("staff", slices.Repeat([]string{line}, 8)...), 413, "too_large")
		if p.Import == nil || p.Import.LastLine == 0 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("a key", func(t *testing.T) {
		c := importOf("staff", staffLine("a"))
		c.key = "k"
		newRig(t).wantProblem(t, c, 400, "malformed")
	})
	t.Run("a tenant that is not there", func(t *testing.T) {
		c := importOf("staff", staffLine("a"))
		c.path = "/v1/tenants/nobody/imports/staff"
		newRig(t).wantProblem(t, c, 404, "unknown_tenant")
	})
}

// Each import in hand holds a place; who finds none is told to come again.
func TestImportsAtOnceAreBounded(t *testing.T) {
	r := newRig(t)
	depth, refused := 0, false
	r.events.before = func() {
		depth++
		got := r.do(t, importOf("codes", codeLine(fmt.Sprint("n", depth))))
		if got.status == 429 && got.header.Get("Retry-After") != "" {
			refused = true
		}
	}
	r.want(t, importOf("codes", codeLine("n")), 200)
	if depth != 8 || !refused {
		t.Errorf("%d imports are worked on at once, one was refused: %v", depth, refused)
	}
	r.events.before = nil
	r.want(t, importOf("codes", codeLine("n")), 200)
}

// Whatever is sent, an import accounts for every line and answers as documented.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}", "null", staffLine("a") + "\n" + staffLine("a"), staffLine("a") + "\r\n\r\n" + staffLine("b"), "[1]\n{\"staff\":5}\n\x00",
		`{"staff":"a","schedule":{"weekly":[[{"from":-1,"to":99999}]],"special":{"2026":[]}}}`, strings.Repeat("x", httpapi.MaxLine) + "\n{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		c := importOf("staff", body)
		got := newRig(t).do(t, c)
		var in *imported
		switch got.status {
		case 200:
			all := into[imported](t, got)
			in = &all
		case 413, 422:
			in = into[problem](t, got).Import
		default:
			t.Fatalf("answers %d %s", got.status, got.body)
		}
		if lines := strings.Count(body, "\n") + 1; in.LastLine > lines || in.Stored+in.Unchanged+in.Refused > in.LastLine {
			t.Errorf("%d lines: %+v", lines, in)
		}
	})
}
