//go:build image

package image_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Given by `make image-test`.
var (
	archiveFile   = flag.String("archive", "", "the image as an OCI archive")
	programFolder = flag.String("programs", "", "folder of the image's programs and their SBOMs")
	again         = flag.Bool("again", false, "build the programs again elsewhere, with an empty cache, and compare")
)

// engine is podman with a store of its own.
type engine struct {
	dir   string // of the store and of settings
	image string // its ID
}

// podman is the engine of all tests here; the image is unpacked once.
var podman *engine

func TestMain(m *testing.M) {
	flag.Parse()
	status, err := withEngine(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// withEngine runs the tests and leaves no container behind.
func withEngine(m *testing.M) (status int, err error) {
	dir, err := os.MkdirTemp("", "rollcall-image-*")
	if err != nil {
		return 1, err
	}
	podman = &engine{dir: dir}
	status = m.Run()
	return status, errors.Join(podman.removeContainers(), podman.removeStore())
}

// load unpacks the image, unless that was done.
func (e *engine) load(t *testing.T) {
	t.Helper()
	if e.image != "" {
		return
	}
	id, err := e.command("pull", "--quiet", "oci-archive:"+*archiveFile).Output()
	if err != nil {
		t.Fatalf("load the image: %v", said(err))
	}
	e.image = strings.TrimSpace(string(id))
}

// command is a command of podman that starts no service and knows no other store.
func (e *engine) command(args ...string) *exec.Cmd {
	return exec.Command("podman", append([]string{
		"--root", filepath.Join(e.dir, "store"), "--runroot", filepath.Join(e.dir, "run"), "--tmpdir", filepath.Join(e.dir, "tmp"),
		"--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file",
	}, args...)...)
}

// locked are the options of a container that may do next to nothing: its root
// is read-only without exception, it has no capability, and gets none.
func locked(more ...string) []string {
	return append([]string{
		"run", "--rm", "--runtime", "runc", "--network", "host", "--read-only", "--read-only-tmpfs=false",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024",
	}, more...)
}

// answer runs a container to its end and returns what it wrote.
func (e *engine) answer(t *testing.T, options, args []string) (string, error) {
	t.Helper()
	e.load(t)
	out, err := e.command(append(append(locked(options...), e.image), args...)...).CombinedOutput()
	return string(out), err
}

// Command runs a role in a container of the member's name. podman passes
// signals on and ends as the container does.
func (e *engine) Command(name, role string, env []string) (*exec.Cmd, error) {
	settings := filepath.Join(e.dir, name+".env")
	if err := os.WriteFile(settings, []byte(strings.Join(env, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	return e.command(append(locked("--name", name, "--env-file", settings), e.image, role)...), nil
}

// Kill ends the container; podman itself must live to see it.
func (e *engine) Kill(name string, _ *exec.Cmd) error {
	if out, err := e.command("kill", "--signal", "KILL", name).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// containers are the IDs of all that there are, ended ones too.
func (e *engine) containers() ([]string, error) {
	out, err := e.command("ps", "--all", "--quiet", "--no-trunc").Output()
	return strings.Fields(string(out)), said(err)
}

// removeContainers removes what is left, by ID.
func (e *engine) removeContainers() error {
	if e.image == "" {
		return nil
	}
	left, err := e.containers()
	for _, id := range left {
		err = errors.Join(err, said(e.command("rm", "--force", "--time", "1", id).Run()))
	}
	return err
}

// removeStore removes the image and the folder.
func (e *engine) removeStore() error {
	var err error
	if e.image != "" {
		err = said(e.command("rmi", "--force", e.image).Run())
	}
	return errors.Join(err, os.RemoveAll(e.dir))
}

// inspect asks about a running container.
func (e *engine) inspect(name, format string) (string, error) {
	out, err := e.command("inspect", "--format", format, name).Output()
	return strings.TrimSpace(string(out)), said(err)
}

// said adds to an error what a command wrote on its way out.
func said(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return err
}
