//go:build chart

package chart

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/tools"
)

const (
	root      = "../.."
	chartPath = root + "/charts/rollcall"
	release   = "rollcall"
	namespace = "rollcall"
)

// A program is a tool of the cache and the name of its version.
type program struct{ name, version string }

var (
	helm          = program{"helm", "HELM_VERSION"}
	helmUnittest  = program{"helm-unittest", "HELM_UNITTEST_VERSION"}
	helmDocs      = program{"helm-docs", "HELM_DOCS_VERSION"}
	kubeconform   = program{"kubeconform", "KUBECONFORM_VERSION"}
	kubectl       = program{"kubectl", "KUBERNETES_VERSION"}
	apiServer     = program{"kube-apiserver", "KUBERNETES_VERSION"}
	controllers   = program{"kube-controller-manager", "KUBERNETES_VERSION"}
	goCommand     = program{name: "go"}
	etcdOfMachine = program{name: "etcd"}
)

// path is where the tool lies; without a version it is the machine's own.
func (p program) path() (string, error) {
	if p.version == "" {
		return exec.LookPath(p.name)
	}
	version, err := tools.Version(p.version)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "rollcall", "tools-bin", p.name+"-"+version, p.name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w: make tools-chart builds it", err)
	}
	return path, nil
}

// run returns what the tool printed; its error holds what it complained of.
func (p program) run(ctx context.Context, input string, args ...string) (string, error) {
	out, complaint, err := p.both(ctx, input, args...)
	if err != nil {
		return out, fmt.Errorf("%s %s: %w\n%s", p.name, strings.Join(args, " "), err, complaint)
	}
	return out, nil
}

// both returns standard output and standard error.
func (p program) both(ctx context.Context, input string, args ...string) (out, complaint string, err error) {
	path, err := p.path()
	if err != nil {
		return "", "", err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// must is run in a test that cannot go on without.
func (p program) must(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := p.run(tb.Context(), "", args...)
	if err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return out
}

// valueFiles are the examples the chart is shown to work with, by name.
func valueFiles(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob(chartPath + "/ci/*.yaml")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no value files in %s/ci (%v)", chartPath, err)
	}
	return files
}

// nameOf is a file's name without its ending.
func nameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".yaml") }

// sourceOf returns the folder of a module's source, which is fetched if need be.
func sourceOf(ctx context.Context, module, version string) (string, error) {
	out, failed := goCommand.run(ctx, "", "mod", "download", "-json", module+"@"+version)
	var fetched struct{ Dir, Error string }
	if err := json.Unmarshal([]byte(out), &fetched); err != nil {
		return "", errors.Join(failed, err)
	}
	if fetched.Dir == "" {
		return "", fmt.Errorf("fetch %s@%s: %s", module, version, fetched.Error)
	}
	return fetched.Dir, nil
}
