//go:build lint

package layers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/rollcall-dev/rollcall"
	otel   = "go.opentelemetry.io/otel"
)

// An edge is one import: a file in the folder imports the path. Paths that
// start with ./ are the project's own.
type edge struct {
	folder   string
	imported string
	file     string // below the folder; code.go when empty
}

// What each layer must not import.
var forbidden = []edge{
	// L0: nothing but the standard library without input and output.
	{folder: "internal/reason", imported: "net"},
	{folder: "internal/reason", imported: "./internal/roster"},
	{folder: "internal/roster", imported: "net/http"},
	{folder: "internal/roster", imported: "os"},
	{folder: "internal/roster", imported: "database/sql"},
	{folder: "internal/roster", imported: otel + "/metric"},
	{folder: "internal/roster", imported: "./internal/push"},
	{folder: "internal/roster", imported: "./internal/keyqueue"},
	{folder: "internal/keyqueue", imported: "net"},
	{folder: "internal/keyqueue", imported: "os/exec"},
	{folder: "internal/keyqueue", imported: "./internal/roster"},
	{folder: "internal/keyqueue", imported: "github.com/apache/pulsar-client-go/pulsar"},

	// L1: neither drivers nor the network nor a layer above.
	{folder: "internal/push", imported: "net/http"},
	{folder: "internal/push", imported: "os"},
	{folder: "internal/push", imported: "go.mongodb.org/mongo-driver/v2/mongo"},
	{folder: "internal/push", imported: "./internal/adapter/mongostore"},
	{folder: "internal/push", imported: otel + "/sdk/metric"},
	{folder: "internal/intake", imported: "github.com/apache/pulsar-client-go/pulsar"},
	{folder: "internal/intake", imported: "./internal/adapter/pulsarbus"},
	{folder: "internal/intake", imported: "./internal/service"},
	{folder: "internal/intake", imported: otel}, // its globals
	{folder: "internal/quota", imported: "github.com/redis/go-redis/v9"},
	{folder: "internal/backstop", imported: "net/http"},
	{folder: "internal/alert", imported: "net/http"},
	{folder: "internal/access", imported: "net/http"},
	{folder: "internal/adoption", imported: "./internal/adapter/wecom"},
	{folder: "internal/board", imported: "./internal/adapter/mongostore"},
	{folder: "internal/contactway", imported: "./internal/adapter/wecom"},
	{folder: "internal/decision", imported: "os"},
	{folder: "internal/dirty", imported: "./internal/adapter/mongostore"},
	{folder: "internal/draw", imported: "github.com/redis/go-redis/v9"},
	{folder: "internal/explain", imported: "./internal/adapter/mongostore"},
	{folder: "internal/fanout", imported: "./internal/adapter/mongostore"},
	{folder: "internal/ident", imported: "./pkg/refresh"},
	{folder: "internal/intervene", imported: "./internal/adapter/mongostore"},
	{folder: "internal/letters", imported: "./internal/adapter/pulsarbus"},
	{folder: "internal/notify", imported: "./internal/adapter/grouprobot"},
	{folder: "internal/plan", imported: "./internal/adapter/mongostore"},
	{folder: "internal/preflight", imported: "net/http"},
	{folder: "internal/preflight", imported: "./internal/adapter/pulsarbus"},
	{folder: "internal/ratelimit", imported: "net/http"},
	{folder: "internal/recent", imported: "os"},
	{folder: "internal/publish", imported: "github.com/apache/pulsar-client-go/pulsar"},
	{folder: "internal/registry", imported: "net/http"},
	{folder: "internal/trail", imported: "./internal/adapter/mongostore"},
	{folder: "internal/shadow", imported: "./internal/adapter/mongostore"},
	{folder: "internal/alert", imported: "./internal/adapter/grouprobot"},

	{folder: "internal/push", imported: "github.com/google/go-cmp/cmp"},
	{folder: "internal/push", imported: "./internal/adapter/mongostore", file: "pushtest/suite.go"},

	// L2: not the processes.
	{folder: "internal/adapter/wecom", imported: "./internal/service"},
	{folder: "internal/adapter/mongostore", imported: "./internal/config"},
	{folder: "internal/adapter/callback", imported: "./internal/webserver"},
	{folder: "internal/adapter/redisbudget", imported: "./internal/telemetry"},
	{folder: "internal/adapter/pulsarbus", imported: "./cmd/rollcall"},

	// The SDK: no more than its user wants in his own build.
	{folder: "pkg/refresh", imported: "./internal/reason"},
	{folder: "pkg/refresh", imported: "github.com/redis/go-redis/v9"},
	{folder: "pkg/refresh", imported: otel + "/sdk/trace"},
	{folder: "pkg/refresh", imported: "./internal/push", file: "code_test.go"},
	{folder: "pkg/oldpush", imported: "github.com/apache/pulsar-client-go/pulsar"},
	{folder: "pkg/oldpush", imported: "./pkg/refresh"},
	{folder: "pkg/oldpush", imported: "./internal/shadow", file: "code_test.go"},

	// The simulator judges the rest, so it shares nothing with it.
	{folder: "internal/wecomsim", imported: "./internal/adapter/wecom"},
	{folder: "internal/wecomsim", imported: "./internal/roster"},
	{folder: "internal/wecomcrypto", imported: "./internal/reason"},
	{folder: "internal/wecomcrypto", imported: "github.com/redis/go-redis/v9"},

	// The test tree.
	{folder: "internal/service", imported: "./test/stack"},
	{folder: "internal/adapter/wecom", imported: "./test/stack/stacktest"},
	{folder: "pkg/refresh", imported: "./test/stack"},

	// Everywhere.
	{folder: "internal/service", imported: "log"},
	{folder: "cmd/rollcall", imported: "math/rand"},
}

// What must stay possible: a rule that refuses everything proves nothing.
var allowed = []edge{
	{folder: "internal/roster", imported: "./internal/reason"},
	{folder: "internal/keyqueue", imported: "./internal/reason"},
	{folder: "internal/keyqueue", imported: "container/heap"},
	{folder: "internal/roster", imported: "net/http", file: "code_test.go"},
	{folder: "internal/push", imported: "./internal/roster"},
	{folder: "internal/push", imported: otel + "/trace"},
	{folder: "internal/push", imported: "log/slog"},
	{folder: "internal/push", imported: "github.com/google/go-cmp/cmp", file: "pushtest/suite.go"},
	{folder: "internal/intake", imported: "./internal/push"},
	{folder: "internal/adapter/mongostore", imported: "./internal/push"},
	{folder: "internal/adapter/mongostore", imported: "go.mongodb.org/mongo-driver/v2/mongo"},
	{folder: "internal/adapter/mongostore", imported: "./test/stack/stacktest", file: "code_test.go"},
	{folder: "internal/adapter/wecom", imported: "./internal/wecomsim", file: "code_test.go"},
	{folder: "internal/wecomsim", imported: "./internal/wecomcrypto"},
	{folder: "pkg/refresh", imported: "github.com/apache/pulsar-client-go/pulsar"},
	{folder: "pkg/refresh", imported: otel + "/trace"},
	{folder: "internal/service", imported: "./internal/adapter/wecom"},
	{folder: "cmd/rollcall", imported: "./internal/service"},
	{folder: "cmd/rollcall", imported: "./test/stack"},
	{folder: "test/campaign", imported: "./internal/service"},
}

func TestLayersRejectEveryForbiddenImport(t *testing.T) {
	scratch := newScratch(t)
	rejected := scratch.lint(t, slices.Concat(forbidden, allowed))
	for _, e := range forbidden {
		if !rejected[e] {
			t.Errorf("%s was not rejected", e)
		}
	}
	for _, e := range allowed {
		if rejected[e] {
			t.Errorf("%s was rejected, and should be possible", e)
		}
	}
}

func (e edge) String() string {
	return fmt.Sprintf("import of %s in %s (%s)", e.imported, e.folder, e.fileName())
}

func (e edge) fileName() string {
	if e.file == "" {
		return "code.go"
	}
	return e.file
}

func (e edge) own() (string, bool) { return strings.CutPrefix(e.imported, "./") }

func (e edge) importPath() string {
	if folder, own := e.own(); own {
		return module + "/" + folder
	}
	return e.imported
}

// drivers are empty modules that stand for the real ones, so that the scratch
// module builds without downloads. The value is the version a path requires.
var drivers = map[string]string{
	"github.com/apache/pulsar-client-go/pulsar": "v0.0.0",
	"github.com/google/go-cmp/cmp":              "v0.0.0",
	"github.com/redis/go-redis/v9":              "v9.0.0",
	"go.mongodb.org/mongo-driver/v2/mongo":      "v0.0.0",
	otel:                                        "v0.0.0",
	otel + "/metric":                            "v0.0.0",
	otel + "/trace":                             "v0.0.0",
	otel + "/sdk/metric":                        "v0.0.0",
	otel + "/sdk/trace":                         "v0.0.0",
}

// scratch is a module with the project's name in a folder of its own.
type scratch struct{ dir string }

func newScratch(t *testing.T) *scratch {
	t.Helper()
	s := &scratch{dir: t.TempDir()}
	var mod strings.Builder
	fmt.Fprintf(&mod, "module %s\n\ngo 1.26.0\n", module)
	for i, path := range slices.Sorted(maps.Keys(drivers)) {
		folder := fmt.Sprintf("drivers/%d", i)
		fmt.Fprintf(&mod, "require %s %s\nreplace %s => ./%s\n", path, drivers[path], path, folder)
		s.write(t, folder+"/go.mod", "module "+path+"\n")
		s.write(t, folder+"/driver.go", "package driver\n")
	}
	s.write(t, "go.mod", mod.String())
	return s
}

func (s *scratch) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lint gives every edge a package of its own below its folder, so that edges
// in both directions make no cycle, and returns those the linter rejects.
func (s *scratch) lint(t *testing.T, edges []edge) map[edge]bool {
	t.Helper()
	at := map[string]edge{}
	for i, e := range edges {
		name := fmt.Sprintf("%s/edge%d/%s", e.folder, i, e.fileName())
		at[name] = e
		s.write(t, name, fmt.Sprintf("package edge\n\nimport _ %q\n", e.importPath()))
		if folder, own := e.own(); own {
			s.write(t, folder+"/package.go", "package imported\n")
		}
	}
	rejected := map[edge]bool{}
	for _, issue := range s.run(t) {
		e, known := at[filepath.ToSlash(issue.Pos.Filename)]
		if !known {
			t.Errorf("issue in an unexpected place: %+v", issue)
		}
		if !strings.Contains(issue.Text, "'"+e.importPath()+"'") {
			t.Errorf("issue %q does not name the import %s", issue.Text, e.importPath())
		}
		rejected[e] = true
	}
	return rejected
}

type issue struct {
	FromLinter string
	Text       string
	Pos        struct{ Filename string }
}

// run runs depguard alone, with the project's rules. The linter exits with a
// failure when it has found issues, so its exit status tells nothing here.
func (s *scratch) run(t *testing.T) []issue {
	t.Helper()
	config, err := filepath.Abs("../../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), linter(t), "run",
		"--config", config, "--enable-only", "depguard", "--issues-exit-code", "0",
		"--allow-parallel-runners", "--path-mode", "abs", "--output.json.path", "stdout", "--show-stats=false")
	cmd.Dir = s.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run the linter: %v\n%s%s", err, out, stderr.String())
	}
	var report struct{ Issues []issue }
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("read the linter's report: %v\n%s%s", err, out, stderr.String())
	}
	for i := range report.Issues {
		report.Issues[i].Pos.Filename = strings.TrimPrefix(report.Issues[i].Pos.Filename, s.dir+"/")
	}
	return report.Issues
}

func linter(t *testing.T) string {
	t.Helper()
	path := os.Getenv("GOLANGCI_LINT")
	if path == "" {
		t.Fatal("GOLANGCI_LINT does not name the linter; `make lint` sets it")
	}
	return path
}
