//go:build image

package image_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestReproducible builds the commit in another folder with an empty cache: the
// programs are the same to the byte.
func TestReproducible(t *testing.T) {
	if !*again {
		t.Skip("it takes minutes; `make image-reproducible` runs it")
	}
	elsewhere := filepath.Join(t.TempDir(), "some", "where", "else")
	run(t, nil, "git", "clone", "--quiet", "--shared", "../..", elsewhere)
	run(t, []string{"GOCACHE=" + t.TempDir()}, "make", "--no-print-directory", "-C", elsewhere, "image-binaries")
	for _, name := range programs {
		first := sumOf(t, filepath.Join(*programFolder, name))
		second := sumOf(t, filepath.Join(elsewhere, "bin", "image", "linux", runtime.GOARCH, name))
		if first != second {
			t.Errorf("%s is %s here and %s elsewhere (is everything committed?)", name, first, second)
			continue
		}
		t.Logf("%s twice: sha256 %s", name, first)
	}
}

func run(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func sumOf(t *testing.T, name string) string {
	t.Helper()
	contents, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(contents))
}
