package stack

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rollcall-dev/rollcall/tools"
)

//go:embed mongo-stand-in.pom.xml
var mongoPOM []byte

//go:embed MongoStandIn.java
var mongoLauncher []byte

// installer brings the servers onto this machine, each once per user: into the
// cache, or by apt for Redis.
type installer struct {
	cache  string // the folder of the downloads
	report func(part, message string)
}

// defaultCache is the folder of this user's downloads.
func defaultCache() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(base, "rollcall"), nil
}

// pulsar returns the folder of the unpacked broker.
func (in *installer) pulsar(ctx context.Context) (string, error) {
	version, plugin, err := mavenVersions("PULSAR_VERSION")
	if err != nil {
		return "", err
	}
	return in.once(ctx, partPulsar, "pulsar-"+version, func(dir string) error {
		artifact := "org.apache.pulsar:pulsar-server-distribution:" + version + ":tar.gz:bin"
		err := maven(ctx, dir, plugin+":copy", "-Dartifact="+artifact, "-DoutputDirectory="+dir)
		if err != nil {
			return err
		}
		archive := filepath.Join(dir, "pulsar-server-distribution-"+version+"-bin.tar.gz")
		if err := output(ctx, dir, "tar", "-xzf", archive, "--strip-components=1"); err != nil {
			return err
		}
		return os.Remove(archive)
	})
}

// mongo returns the folder of the stand-in's launcher; its jars are in lib.
func (in *installer) mongo(ctx context.Context) (string, error) {
	version, plugin, err := mavenVersions("MONGO_JAVA_SERVER_VERSION")
	if err != nil {
		return "", err
	}
	slf4j, err := tools.Version("SLF4J_VERSION")
	if err != nil {
		return "", err
	}
	return in.once(ctx, partMongo, "mongo-java-server-"+version, func(dir string) error {
		pom := filepath.Join(dir, "pom.xml")
		if err := os.WriteFile(pom, mongoPOM, 0o600); err != nil {
			return err
		}
		return maven(ctx, dir, "-f", pom, plugin+":copy-dependencies",
			"-Dmongo-java-server.version="+version, "-Dslf4j.version="+slf4j,
			"-DoutputDirectory="+filepath.Join(dir, "lib"))
	})
}

// redis returns the path of redis-server.
func (in *installer) redis(ctx context.Context) (string, error) {
	const binary = "redis-server"
	if path, err := exec.LookPath(binary); err == nil {
		return path, nil
	}
	if os.Geteuid() != 0 || !onPath("apt-get") {
		return "", errors.New("redis-server is not installed: install it" +
			" (on Debian: sudo apt-get install redis-server) or set " + EnvRedisURL + " to a server of your own")
	}
	if err := os.MkdirAll(in.cache, 0o700); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(in.cache, "apt.lock"))
	if err != nil {
		return "", err
	}
	in.report(partRedis, "installing redis-server with apt-get")
	err = errors.Join(aptInstall(ctx, binary), unlock())
	if err != nil {
		return "", err
	}
	return exec.LookPath(binary)
}

// aptInstall installs a Debian package without starting the service it brings.
func aptInstall(ctx context.Context, name string) error {
	steps := [][]string{
		{"apt-get", "update", "-qq"},
		{
			"env", "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1",
			"apt-get", "-o", "DPkg::Lock::Timeout=120", "install", "-y", "--no-install-recommends", name,
		},
	}
	for _, step := range steps {
		if err := output(ctx, os.TempDir(), step[0], step[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// mavenVersions returns the version of an artifact and the Maven plugin, with
// its own, that fetches it.
func mavenVersions(name string) (version, plugin string, err error) {
	version, err = tools.Version(name)
	if err != nil {
		return "", "", err
	}
	pluginVersion, err := tools.Version("MAVEN_DEPENDENCY_PLUGIN_VERSION")
	return version, "org.apache.maven.plugins:maven-dependency-plugin:" + pluginVersion, err
}

// once returns cache/name, built by build the first time. It is built in a
// temporary folder and renamed, so that a half-finished one is never taken for
// whole; a lock keeps two stacks from building it at the same time.
func (in *installer) once(ctx context.Context, part, name string, build func(dir string) error) (string, error) {
	final := filepath.Join(in.cache, name)
	if exists(final) {
		return final, nil
	}
	if err := os.MkdirAll(in.cache, 0o700); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	unlock, err := lock(ctx, final+".lock")
	if err != nil {
		return "", err
	}
	if !exists(final) {
		in.report(part, "downloading "+name+" (once)")
		err = buildInto(final, build)
	}
	if err := errors.Join(err, unlock()); err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	return final, nil
}

// buildInto builds in a temporary folder beside final. Its name is always the
// same, so that what a killed build left is removed by the next one.
func buildInto(final string, build func(dir string) error) (err error) {
	temp := final + ".unfinished"
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := build(temp); err != nil {
		return err
	}
	return os.Rename(temp, final)
}

// maven runs one goal of Maven, quietly and without questions.
func maven(ctx context.Context, dir string, args ...string) error {
	if !onPath("mvn") {
		return errors.New("mvn is not on the PATH: Maven fetches the servers" +
			" (on Debian: sudo apt-get install maven openjdk-17-jdk-headless)")
	}
	return output(ctx, dir, "mvn", append([]string{"--batch-mode", "--quiet"}, args...)...)
}

// output runs a command to its end; when it fails, the error carries the last
// of what it printed.
func output(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	printed, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, lastLines(printed, 15))
	}
	return nil
}

// lastLines returns the last n lines of text.
func lastLines(text []byte, n int) string {
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-n):], []byte("\n")))
}

func onPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
