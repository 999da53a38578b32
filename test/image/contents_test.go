//go:build image

package image_test

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mebibytes of an image beyond which it was not kept small.
const (
	maxArchive  = 40.0
	maxPrograms = 80.0
)

const mebibyte = 1 << 20

// programs are the files of the image.
var programs = []string{"rollcall", "wecomsim"}

func TestTheImageIsTwoStaticPrograms(t *testing.T) {
	a := openImage(t)
	if got := slices.Sorted(maps.Keys(a.files)); !slices.Equal(got, programs) {
		t.Fatalf("the image holds %v, want %v and nothing else", got, programs)
	}
	size := 0.0
	for _, name := range programs {
		f := a.files[name]
		size += float64(len(f.contents)) / mebibyte
		if f.mode != 0o555 || f.owner != 0 {
			t.Errorf("%s is %v of user %d; want r-xr-xr-x of root", name, f.mode, f.owner)
		}
		program, err := elf.NewFile(bytes.NewReader(f.contents))
		if err != nil {
			t.Fatalf("%s is no program: %v", name, err)
		}
		if libraries, _ := program.ImportedLibraries(); len(libraries) > 0 || program.Section(".interp") != nil {
			t.Errorf("%s is not static: it wants %v", name, libraries)
		}
	}
	packed := float64(a.size) / mebibyte
	if packed > maxArchive || size > maxPrograms {
		t.Errorf("%.1f MiB, packed %.1f; want at most %.0f and %.0f", size, packed, maxPrograms, maxArchive)
	}
	t.Logf("size: %.1f MiB, packed %.1f MiB; files: %v; no shell, no libraries, no base", size, packed, programs)
}

func TestTheImageSaysWhatItWasMadeFrom(t *testing.T) {
	a := openImage(t)
	if a.config.User != "65532:65532" || !slices.Equal(a.config.Entrypoint, []string{"/rollcall"}) {
		t.Errorf("it runs %v as %s", a.config.Entrypoint, a.config.User)
	}
	if got := slices.Sorted(maps.Keys(a.config.ExposedPorts)); !slices.Equal(got, []string{"8080/tcp", "9090/tcp"}) {
		t.Errorf("it exposes %v", got)
	}
	build := buildOf(t, a, "rollcall")
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	if settings["CGO_ENABLED"] != "0" || settings["-trimpath"] != "true" || settings["vcs.revision"] == "" {
		t.Errorf("built with %v", settings)
	}
	if want := (platform{settings["GOOS"], settings["GOARCH"]}); a.platform != want {
		t.Errorf("the image is for %v, its program for %v", a.platform, want)
	}
	labels := a.config.Labels
	created, err := time.Parse(time.RFC3339, labels["org.opencontainers.image.created"])
	if err != nil {
		t.Error(err)
	}
	committed, err := time.Parse(time.RFC3339, settings["vcs.time"])
	if err != nil || !created.Equal(committed) || !a.created.Equal(committed) {
		t.Errorf("created %v by its label and %v by itself; the commit is of %v (%v)", created, a.created, committed, err)
	}
	for label, want := range map[string]string{
		"version": build.Main.Version, "revision": settings["vcs.revision"],
		"title": "Rollcall", "source": "https://" + build.Main.Path,
	} {
		if got := labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	t.Logf("made from: %s, commit %.12s of %s, %s; digest %s",
		build.Main.Version, settings["vcs.revision"], created.UTC().Format(time.DateOnly), build.GoVersion, a.digest)
}

// TestTheSBOMListsEveryModule compares each SBOM with what the toolchain wrote
// into the program of the image.
func TestTheSBOMListsEveryModule(t *testing.T) {
	a := openImage(t)
	for _, name := range programs {
		build := buildOf(t, a, name)
		want := []string{"std@" + build.GoVersion}
		for _, module := range build.Deps {
			if module.Replace != nil {
				module = module.Replace
			}
			want = append(want, module.Path+"@"+module.Version)
		}
		slices.Sort(want)
		bom := readBOM(t, name)
		if diff := cmp.Diff(want, bom.modules()); diff != "" {
			t.Errorf("the SBOM of %s differs from its modules (-program +SBOM):\n%s", name, diff)
		}
		if main := bom.Metadata.Component; main.Name != build.Main.Path || main.Version != build.Main.Version {
			t.Errorf("the SBOM of %s is of %s %s, want %s %s", name, main.Name, main.Version, build.Main.Path, build.Main.Version)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(a.files[name].contents)); bom.property("cdx:gomod:binary:hash:SHA-256") != sum {
			t.Errorf("the SBOM of %s is not of the image's, whose sum is %s", name, sum)
		}
		t.Logf("SBOM of %s: %s %s, %d modules, each of the program's", name, bom.BOMFormat, bom.SpecVersion, len(want))
	}
}

// bom is as much of a CycloneDX document as is looked at.
type bom struct {
	BOMFormat, SpecVersion string
	Metadata               struct {
		Component  component
		Properties []struct{ Name, Value string }
	}
	Components []component
}

type component struct{ Name, Version, PURL string }

// property is what was noted of the program that was looked at.
func (b bom) property(name string) string {
	for _, p := range b.Metadata.Properties {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

func readBOM(t *testing.T, program string) (b bom) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(*programFolder, program+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &b); err != nil || b.BOMFormat != "CycloneDX" {
		t.Fatalf("the SBOM of %s is a %q: %v", program, b.BOMFormat, err)
	}
	return b
}

// modules are name@version of the components, those without a package URL left
// out: nothing could look these up.
func (b bom) modules() []string {
	var modules []string
	for _, c := range b.Components {
		if strings.HasPrefix(c.PURL, "pkg:golang/") {
			modules = append(modules, c.Name+"@"+c.Version)
		}
	}
	slices.Sort(modules)
	return modules
}

func openImage(t *testing.T) archive {
	t.Helper()
	if *archiveFile == "" {
		t.Fatal("no -archive; run it by `make image-test`")
	}
	a, err := openArchive(*archiveFile)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func buildOf(t *testing.T, a archive, program string) *debug.BuildInfo {
	t.Helper()
	build, err := buildinfo.Read(bytes.NewReader(a.files[program].contents))
	if err != nil {
		t.Fatalf("what %s was made from: %v", program, err)
	}
	return build
}
