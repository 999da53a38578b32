package stack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAFailedDownloadLeavesNothingAndIsTriedAgain(t *testing.T) {
	in := testInstaller(t)
	failure := errors.New("connection reset")
	half := func(dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "half"), nil, 0o600), failure)
	}
	if _, err := in.once(t.Context(), partMongo, "thing-1", half); !errors.Is(err, failure) {
		t.Fatalf("error %v, want %v", err, failure)
	}
	if diff := cmp.Diff([]string{"thing-1.lock"}, entries(t, in.cache)); diff != "" {
		t.Errorf("cache after the failure (-want +got):\n%s", diff)
	}
	dir, err := in.once(t.Context(), partMongo, "thing-1", func(string) error { return nil })
	if err != nil || !exists(dir) {
		t.Errorf("the second try: %q, %v", dir, err)
	}
}

func TestWhatAKilledDownloadLeftIsNotTakenForWhole(t *testing.T) {
	in := testInstaller(t)
	left := filepath.Join(in.cache, "thing-1.unfinished")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "half"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := in.once(t.Context(), partMongo, "thing-1", func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "whole"), nil, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"whole"}, entries(t, dir)); diff != "" {
		t.Errorf("the download (-want +got):\n%s", diff)
	}
}

func TestAFailedCommandShowsTheEndOfItsOutput(t *testing.T) {
	err := output(t.Context(), t.TempDir(), "sh", "-c", "for i in $(seq 100); do echo line $i; done; exit 4")
	if err == nil || !strings.Contains(err.Error(), "exit status 4") ||
		!strings.Contains(err.Error(), "line 86\n") || strings.Contains(err.Error(), "line 85\n") {
		t.Errorf("error %v, want the status and the last 15 lines", err)
	}
}

func TestMissingToolsAreNamedWithTheirPackage(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	in := testInstaller(t)
	_, mongo := in.mongo(t.Context())
	_, redis := in.redis(t.Context())
	for want, err := range map[string]error{
		"apt-get install maven":                      mongo,
		"apt-get install redis-server":               redis,
		"apt-get install openjdk-17-jdk-headless":    needJava(),
		"set ROLLCALL_REDIS_URL to a server of your": redis,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to say %q", err, want)
		}
	}
}

func testInstaller(t *testing.T) *installer {
	t.Helper()
	return &installer{cache: t.TempDir(), report: func(string, string) {}}
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(found))
	for i, entry := range found {
		names[i] = entry.Name()
	}
	return names
}
