//go:build chart

package chart

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/config"
)

// What stands in Secrets, for the tests: of the form that the binary takes. A
// variable that is not here has no Secret in the chart.
var secretValues = map[string]string{
	"ROLLCALL_MONGODB_URI":          "mongodb://user:secret@mongodb.example:27017/?replicaSet=rs0",
	"ROLLCALL_REDIS_URL":            "rediss://user:secret@redis.example:6379/0",
	"ROLLCALL_PULSAR_TOKEN":         "secret",
	"ROLLCALL_SEAL_KEYS":            "one:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
	"ROLLCALL_WECOM_TOKEN_KEY":      "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
	"ROLLCALL_CONSOLE_KEYS":         "one:YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXowMTIzNDU=",
	"ROLLCALL_CONSOLE_PROXY_SECRET": "sixteen letters!",
	"ROLLCALL_ALERT_ROBOT_URL":      "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=secret",
}

const ourPrefix = "ROLLCALL_"

// environment is what Kubernetes would put into a container of ours. Files of
// mounted Secrets are made in dir, and the paths of variables lead there.
func (r rendering) environment(tb testing.TB, spec podSpec, c container, dir string) map[string]string {
	tb.Helper()
	env := map[string]string{}
	for _, from := range c.EnvFrom {
		if from.ConfigMapRef != nil {
			maps.Copy(env, r.configMap(tb, from.ConfigMapRef.Name))
		}
	}
	for _, variable := range c.Env {
		switch from := variable.ValueFrom; {
		case from == nil:
			env[variable.Name] = variable.Value
		case from.ConfigMapKeyRef != nil:
			env[variable.Name] = r.configMap(tb, from.ConfigMapKeyRef.Name)[from.ConfigMapKeyRef.Key]
		case from.SecretKeyRef != nil && strings.HasPrefix(variable.Name, ourPrefix):
			value, known := secretValues[variable.Name]
			if !known {
				tb.Errorf("%s comes from a Secret, and the test has no value for it", variable.Name)
			}
			env[variable.Name] = value
		}
	}
	for _, mount := range c.VolumeMounts {
		mounted := filepath.Join(dir, mount.MountPath)
		for _, v := range spec.Volumes {
			if v.Name != mount.Name {
				continue
			}
			for _, file := range v.files() {
				path := filepath.Join(mounted, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					tb.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
					tb.Fatal(err)
				}
			}
		}
	}
	for name, value := range env {
		if strings.HasSuffix(name, "_FILE") {
			env[name] = filepath.Join(dir, value)
		}
	}
	return env
}

// configMap returns the data of a rendered ConfigMap. One whose name is not the
// release's is the operator's own, and nothing is known of it.
func (r rendering) configMap(tb testing.TB, name string) map[string]string {
	tb.Helper()
	for _, m := range r.of("ConfigMap") {
		if m.Metadata.Name == name {
			var config struct{ Data map[string]string }
			m.as(tb, &config)
			return config.Data
		}
	}
	if strings.HasPrefix(name, release) {
		tb.Errorf("%s: no ConfigMap %s is rendered", r.name(), name)
	}
	return nil
}

// ours calls a function for each container of each value file that runs the
// product.
func ours(t *testing.T, look func(t *testing.T, r rendering, w workload, c container)) {
	for _, r := range current(t) {
		t.Run(r.name(), func(t *testing.T) {
			looked := 0
			for _, w := range r.workloads(t) {
				for _, c := range w.spec.Containers {
					if !c.ours() {
						continue
					}
					looked++
					t.Run(w.Metadata.Name+"-"+c.Name, func(t *testing.T) { look(t, r, w, c) })
				}
			}
			if looked == 0 {
				t.Error("no container runs the product")
			}
		})
	}
}

// loaded is the configuration that the binary makes of the container's
// environment.
func loaded(t *testing.T, r rendering, w workload, c container) config.Config {
	t.Helper()
	cfg, _ := load(t, r, w, c)
	return cfg
}

// load returns the configuration, and what the binary would warn of.
func load(t *testing.T, r rendering, w workload, c container) (config.Config, []string) {
	t.Helper()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, ourPrefix) {
			t.Setenv(name, "")
		}
	}
	env := r.environment(t, w.spec, c, t.TempDir())
	for name, value := range env {
		if strings.HasPrefix(name, ourPrefix) {
			t.Setenv(name, value)
		}
	}
	cfg, err := config.Load(config.NeedPulsar, config.NeedMongoDB, config.NeedRedis)
	if err != nil {
		t.Fatalf("the binary refuses what the chart sets: %v", err)
	}
	entries := make([]string, 0, len(env))
	for name, value := range env {
		entries = append(entries, name+"="+value)
	}
	return cfg, config.Warnings(entries)
}

// Every variable is one the binary knows, with a value that it takes.
func TestBinaryTakesTheConfiguration(t *testing.T) {
	set := map[string]bool{}
	ours(t, func(t *testing.T, r rendering, w workload, c container) {
		if !c.reads() {
			return
		}
		_, warnings := load(t, r, w, c)
		for _, warning := range warnings {
			t.Error(warning)
		}
		for name := range r.environment(t, w.spec, c, t.TempDir()) {
			set[name] = true
		}
	})
	known := 0
	for _, section := range config.Reference() {
		known += len(section.Variables)
	}
	t.Logf("%d of the binary's %d variables are set by some value file", countOurs(set), known)
}

func countOurs(names map[string]bool) int {
	n := 0
	for name := range names {
		if strings.HasPrefix(name, ourPrefix) {
			n++
		}
	}
	return n
}

// No credential stands in a manifest: whoever may read Deployments would have it.
func TestCredentialsComeFromSecrets(t *testing.T) {
	secret := map[string]bool{}
	for _, section := range config.Reference() {
		for _, v := range section.Variables {
			if strings.HasPrefix(v.Type, "secret") {
				secret[v.Name] = true
			}
		}
	}
	for _, r := range current(t) {
		t.Run(r.name(), func(t *testing.T) {
			if found := r.of("Secret"); len(found) > 0 {
				t.Errorf("%s is rendered: credentials are not the chart's to make", found[0])
			}
			development := strings.Contains(r.text, "rollcall.dev/production: \"false\"")
			for _, w := range r.workloads(t) {
				for _, c := range w.spec.Containers {
					for _, variable := range c.Env {
						if secret[variable.Name] && variable.Value != "" && !development {
							t.Errorf("%s, container %s: %s stands in clear", w, c.Name, variable.Name)
						}
					}
				}
			}
			for _, m := range r.of("ConfigMap") {
				var config struct{ Data map[string]string }
				m.as(t, &config)
				for name := range config.Data {
					if secret[name] && !development {
						t.Errorf("%s: %s stands in clear", m, name)
					}
				}
			}
		})
	}
}

// The arguments are a command of the binary, with flags that it has.
func TestBinaryHasTheCommands(t *testing.T) {
	path, err := builtBinary(t)
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]error{}
	ours(t, func(t *testing.T, _ rendering, _ workload, c container) {
		line := strings.Join(c.Args, " ")
		failure, known := tried[line]
		if !known {
			_, failure = program{name: path}.run(t.Context(), "", append(slices.Clone(c.Args), "--help")...)
			tried[line] = failure
		}
		if failure != nil {
			t.Errorf("rollcall %s: %v", line, failure)
		}
	})
	t.Logf("%d command lines", len(tried))
}

// Probes ask what a role answers, where it listens.
func TestProbesReachTheRoles(t *testing.T) {
	ours(t, func(t *testing.T, r rendering, w workload, c container) {
		if !c.serves() {
			return
		}
		cfg := loaded(t, r, w, c)
		ops := portOf(t, cfg.Telemetry.HTTPAddr)
		if c.port("ops") != ops {
			t.Errorf("port ops is %d, and ROLLCALL_HTTP_ADDR is %s", c.port("ops"), cfg.Telemetry.HTTPAddr)
		}
		if web := portOf(t, cfg.Ingress.Addr); c.Args[0] == "ingress" && c.port("http") != web {
			t.Errorf("port http is %d, and ROLLCALL_INGRESS_ADDR is %s", c.port("http"), cfg.Ingress.Addr)
		}
		for name, asked := range map[string]struct {
			*probe
			path string
		}{
			"startup": {c.StartupProbe, "/livez"}, "liveness": {c.LivenessProbe, "/livez"}, "readiness": {c.ReadinessProbe, "/readyz"},
		} {
			switch {
			case asked.probe == nil || asked.HTTPGet == nil:
				t.Errorf("no %s probe", name)
			case asked.HTTPGet.Path != asked.path || c.port(asked.HTTPGet.Port) != ops:
				t.Errorf("the %s probe asks %s at %v, want %s at %d", name, asked.HTTPGet.Path, asked.HTTPGet.Port, asked.path, ops)
			}
		}
	})
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// A pod that is asked to stop has the time to drain.
func TestGraceOutlastsTheDrain(t *testing.T) {
	ours(t, func(t *testing.T, r rendering, w workload, c container) {
		if !c.serves() {
			return
		}
		cfg := loaded(t, r, w, c)
		needed := cfg.Refresher.DrainTimeout + cfg.WeCom.CallTimeout
		if c.Args[0] == "refresher" { // ends its work, has its acks confirmed, closes; then the last metrics
			needed = 3*cfg.Refresher.DrainTimeout + 5*time.Second
		}
		needed += seconds(c.Lifecycle.PreStop.Sleep.Seconds)
		if grace := seconds(w.spec.TerminationGracePeriodSeconds); grace <= needed {
			t.Errorf("killed after %v, and draining may take %v", grace, needed)
		}
	})
}

// Each refresher's share without Redis is one part of ROLLCALL_BUDGET_INSTANCES:
// with more refreshers than that, WeCom's limits would be exceeded.
func TestBudgetCountsEveryRefresher(t *testing.T) {
	ours(t, func(t *testing.T, r rendering, w workload, c container) {
		if c.Args[0] != "refresher" {
			return
		}
		surge, err := strconv.Atoi(w.surge)
		if err != nil {
			t.Fatalf("maxSurge %q is no number", w.surge)
		}
		most := r.mostReplicas(t, w) + surge
		if cfg := loaded(t, r, w, c); cfg.Budget.Instances < most {
			t.Errorf("ROLLCALL_BUDGET_INSTANCES is %d, and %d refreshers may run", cfg.Budget.Instances, most)
		}
	})
}

// mostReplicas is what a workload may be scaled to.
func (r rendering) mostReplicas(tb testing.TB, w workload) int {
	tb.Helper()
	most := w.replicas
	for _, m := range slices.Concat(r.of("HorizontalPodAutoscaler"), r.of("ScaledObject")) {
		var scaler struct {
			Spec struct {
				ScaleTargetRef               struct{ Name string }
				MaxReplicas, MaxReplicaCount int
			}
		}
		m.as(tb, &scaler)
		if scaler.Spec.ScaleTargetRef.Name == w.Metadata.Name {
			most = max(most, scaler.Spec.MaxReplicas, scaler.Spec.MaxReplicaCount)
		}
	}
	return most
}

// The collector has to begin before the kernel kills.
func TestMemoryLimitOfGoIsBelowTheContainers(t *testing.T) {
	ours(t, func(t *testing.T, r rendering, w workload, c container) {
		limit, set := c.Resources.Limits["memory"]
		goLimit := r.environment(t, w.spec, c, t.TempDir())["GOMEMLIMIT"]
		if !set || (!c.reads() && goLimit == "") {
			return
		}
		allowed, used := bytesOf(t, text(limit)), bytesOf(t, strings.TrimSuffix(goLimit, "B"))
		if share := used / allowed; share < 0.7 || share > 0.95 {
			t.Errorf("GOMEMLIMIT=%s is %.0f %% of %v", goLimit, 100*share, limit)
		}
	})
}

// bytesOf reads a quantity of memory.
func bytesOf(t *testing.T, quantity string) float64 {
	t.Helper()
	number := strings.TrimRight(quantity, "KMGTki")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatalf("read the quantity %q: %v", quantity, err)
	}
	scale := map[string]float64{
		"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40,
	}[strings.TrimPrefix(quantity, number)]
	if scale == 0 {
		t.Fatalf("read the quantity %q: unknown unit", quantity)
	}
	return value * scale
}

// builtBinary builds the product for one test.
func builtBinary(tb testing.TB) (string, error) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "rollcall")
	if _, err := goCommand.run(tb.Context(), "", "build", "-o", path, root+"/cmd/rollcall"); err != nil {
		return "", fmt.Errorf("build the product: %w", err)
	}
	return filepath.Abs(path)
}
