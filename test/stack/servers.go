//go:build unix

package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// The broker's memory, measured: 370 MB resident when idle, 810 MB after
// 600 000 messages.
const (
	pulsarMemory    = "-Xms256m -Xmx768m -XX:MaxDirectMemorySize=512m"
	pulsarCollector = "-XX:+UseSerialGC"
	mongoMemory     = "-Xmx768m"
	// EnvMongoMemory replaces the stand-in's memory option: all documents are in
	// it, and a test with hundreds of thousands says so.
	EnvMongoMemory = "ROLLCALL_STACK_MONGO_MEMORY"
)

// servers builds the parts of one stack.
type servers struct {
	dir       string
	ports     Ports
	detours   []Detour
	addresses Addresses
	given     Addresses // those of the environment; an empty one means the server is ours
	install   *installer
	life      lifetime
	states    *stateFile
	report    func(part, message string)
}

// part returns what all parts have in common, with the recorded process if
// there is one.
func (s *servers) part(name string, ports ...int) *Part {
	p := &Part{
		name: name, logs: filepath.Join(s.dir, "logs"), ports: ports,
		life: s.life, states: s.states, report: s.report,
	}
	if id, recorded := s.states.process(name); recorded {
		p.proc = found(id)
	}
	return p
}

func (s *servers) pulsar() *Part {
	p := s.part(partPulsar, s.ports.Pulsar, s.ports.PulsarAdmin, s.ports.Bookie)
	p.probe = func(ctx context.Context) error { return probePulsar(ctx, s.addresses.PulsarAdminURL) }
	if s.given.PulsarURL == "" {
		p.command = s.pulsarCommand
	}
	return p
}

func (s *servers) mongo() *Part {
	p := s.part(partMongo, s.ports.Mongo)
	p.probe = func(ctx context.Context) error { return probeMongo(ctx, s.addresses.MongoURI) }
	if s.given.MongoURI == "" {
		p.command = s.mongoCommand
	}
	return p
}

func (s *servers) redis() *Part {
	p := s.part(partRedis, s.ports.Redis)
	p.probe = func(ctx context.Context) error { return probeRedis(ctx, s.addresses.RedisURL) }
	if s.given.RedisURL == "" {
		p.command = s.redisCommand
	}
	return p
}

// pulsarCommand is a standalone broker: broker, storage and metadata in one
// process, without the functions worker and the stream storage.
func (s *servers) pulsarCommand(ctx context.Context) (*exec.Cmd, error) {
	if err := needJava(); err != nil {
		return nil, err
	}
	home, err := s.install.pulsar(ctx)
	if err != nil {
		return nil, err
	}
	data, err := s.folder(partPulsar)
	if err != nil {
		return nil, err
	}
	settings := pulsarSettings(s.ports)
	maps.Copy(settings, detourSettings(s.ports.Pulsar, s.detours))
	conf, err := writePulsarConf(home, data, settings)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(home, "bin", "pulsar"), "standalone",
		"--no-functions-worker", "--no-stream-storage",
		"--metadata-dir", filepath.Join(data, "metadata"),
		"--bookkeeper-dir", filepath.Join(data, "bookkeeper"),
		"--bookkeeper-port", strconv.Itoa(s.ports.Bookie))
	cmd.Dir = data
	cmd.Env = append(os.Environ(),
		"PULSAR_STANDALONE_CONF="+conf,
		"PULSAR_LOG_DIR="+filepath.Join(s.dir, "logs"),
		"PULSAR_MEM="+pulsarMemory,
		"PULSAR_GC="+pulsarCollector)
	return cmd, nil
}

// writePulsarConf writes the distribution's configuration with our settings
// and returns its path.
func writePulsarConf(home, data string, settings map[string]string) (string, error) {
	base, err := os.ReadFile(filepath.Join(home, "conf", "standalone.conf"))
	if err != nil {
		return "", fmt.Errorf("read the broker's configuration: %w", err)
	}
	path := filepath.Join(data, "standalone.conf")
	conf := withSettings(string(base), settings)
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		return "", fmt.Errorf("write the broker's configuration: %w", err)
	}
	return path, nil
}

// mongoCommand is the stand-in. Java compiles its launcher as it starts.
func (s *servers) mongoCommand(ctx context.Context) (*exec.Cmd, error) {
	if err := needJava(); err != nil {
		return nil, err
	}
	home, err := s.install.mongo(ctx)
	if err != nil {
		return nil, err
	}
	data, err := s.folder(partMongo)
	if err != nil {
		return nil, err
	}
	launcher := filepath.Join(data, "MongoStandIn.java")
	if err := os.WriteFile(launcher, mongoLauncher, 0o600); err != nil {
		return nil, fmt.Errorf("write the launcher of the MongoDB stand-in: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "java", cmp.Or(os.Getenv(EnvMongoMemory), mongoMemory),
		"-cp", filepath.Join(home, "lib", "*"), launcher, loopback, strconv.Itoa(s.ports.Mongo))
	cmd.Dir = data
	return cmd, nil
}

// redisCommand is Redis with an append-only file, so that a restart loses
// nothing.
func (s *servers) redisCommand(ctx context.Context) (*exec.Cmd, error) {
	binary, err := s.install.redis(ctx)
	if err != nil {
		return nil, err
	}
	data, err := s.folder(partRedis)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), binary,
		"--bind", loopback, "--port", strconv.Itoa(s.ports.Redis),
		"--dir", data, "--appendonly", "yes", "--save", "")
	cmd.Dir = data
	return cmd, nil
}

// folder makes and returns a part's folder.
func (s *servers) folder(part string) (string, error) {
	dir := filepath.Join(s.dir, part)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of %s: %w", part, err)
	}
	return dir, nil
}

func needJava() error {
	if !onPath("java") {
		return errors.New("java is not on the PATH: a JDK of version 17 or later is needed" +
			" (on Debian: sudo apt-get install openjdk-17-jdk-headless)")
	}
	return nil
}
