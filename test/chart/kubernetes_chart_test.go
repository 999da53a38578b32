//go:build chart

package chart

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/test/chart/cluster"
)

// A kubernetes is a cluster of this test's own, with the custom resources that
// the chart knows.
type kubernetes struct{ *cluster.Cluster }

type fields = map[string]any

func startKubernetes(t *testing.T) kubernetes {
	t.Helper()
	since := time.Now()
	paths := make([]string, 0, 3)
	for _, p := range []program{etcdOfMachine, apiServer, controllers} {
		path, err := p.path()
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	c, err := cluster.Start(t.Context(), t.TempDir(), cluster.Programs{Etcd: paths[0], APIServer: paths[1], ControllerManager: paths[2]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.WithoutCancel(t.Context())) })
	k := kubernetes{c}
	definitions, err := customResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range definitions {
		k.kubectl(t, "default", "", "apply", "--server-side", "--filename", file)
	}
	k.kubectl(t, "default", "", "wait", "--for=condition=Established", "--timeout=60s", "customresourcedefinition", "--all")
	t.Logf("Kubernetes %s with %d custom resources after %.1f s", version(t, "KUBERNETES_VERSION"), len(definitions), time.Since(since).Seconds())
	return k
}

// surroundings makes what a cluster has before a release: the namespaces that a
// rendering puts objects into, and the priorities that it names.
func (k kubernetes) surroundings(t *testing.T, r rendering) {
	t.Helper()
	const priorities = "/apis/scheduling.k8s.io/v1/priorityclasses"
	for _, w := range r.workloads(t) {
		if name := w.spec.PriorityClassName; name != "" && !k.exists(t, priorities+"/"+name) {
			err := k.Create(t.Context(), priorities, fields{
				"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": fields{"name": name}, "value": 1000,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, m := range r.manifests {
		if to := m.Metadata.Namespace; to != "" && !k.exists(t, "/api/v1/namespaces/"+to) {
			k.namespace(t, to)
		}
	}
}

// namespace makes a namespace that takes restricted pods alone.
func (k kubernetes) namespace(t *testing.T, name string) {
	t.Helper()
	labels := fields{}
	for _, mode := range []string{"enforce", "warn"} {
		labels["pod-security.kubernetes.io/"+mode] = "restricted"
	}
	err := k.Create(t.Context(), "/api/v1/namespaces", fields{
		"apiVersion": "v1", "kind": "Namespace", "metadata": fields{"name": name, "labels": labels},
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the default service account of "+name, func(ctx context.Context) error {
		return k.Get(ctx, "/api/v1/namespaces/"+name+"/serviceaccounts/default", nil)
	})
}

// exists reports whether the API has an object at the path.
func (k kubernetes) exists(t *testing.T, path string) bool {
	t.Helper()
	err := k.Get(t.Context(), path, nil)
	if err != nil && !errors.Is(err, cluster.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// kubectl returns what it printed, in a namespace. A failure or a warning ends
// the test.
func (k kubernetes) kubectl(t *testing.T, in, input string, args ...string) string {
	t.Helper()
	return quiet(t, kubectl, input, k.in(t, in, args)...)
}

// helm returns what it printed, in a namespace. A failure or a warning ends the
// test.
func (k kubernetes) helm(t *testing.T, in string, args ...string) string {
	t.Helper()
	return quiet(t, helm, "", k.in(t, in, args)...)
}

// in makes the arguments count in a namespace.
func (k kubernetes) in(t *testing.T, namespace string, args []string) []string {
	t.Helper()
	config, err := k.KubeconfigFor(namespace)
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{"--kubeconfig", config}, args...)
}

func quiet(t *testing.T, p program, input string, args ...string) string {
	t.Helper()
	out, complaint, err := p.both(t.Context(), input, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", p.name, strings.Join(args, " "), err, out, complaint)
	}
	if strings.Contains(complaint, "arning:") {
		t.Errorf("%s %s:\n%s", p.name, strings.Join(args, " "), complaint)
	}
	return out
}

// eventually asks until there is no error any more.
func eventually(t *testing.T, what string, ask func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not within a minute: %s: %v", what, err)
		case <-tick.C:
		}
	}
}

// Whom the namespace refuses, so that a pod which it takes means something.
func testRestriction(t *testing.T, k kubernetes) {
	const name = "restricted"
	k.namespace(t, name)
	pod := func(security fields) fields {
		return fields{
			"apiVersion": "v1", "kind": "Pod", "metadata": fields{"name": "pod"},
			"spec": fields{
				"securityContext": fields{"runAsNonRoot": true, "seccompProfile": fields{"type": "RuntimeDefault"}},
				"containers":      []any{fields{"name": "c", "image": "i", "securityContext": security}},
			},
		}
	}
	const path = "/api/v1/namespaces/" + name + "/pods"
	err := k.Create(t.Context(), path, pod(fields{}))
	if err == nil || !strings.Contains(err.Error(), "violates PodSecurity") {
		t.Errorf("a pod with capabilities is answered by %v, want it refused", err)
	}
	err = k.Create(t.Context(), path, pod(fields{"allowPrivilegeEscalation": false, "capabilities": fields{"drop": []any{"ALL"}}}))
	if err != nil {
		t.Errorf("a restricted pod is refused: %v", err)
	}
}

// Every value file's objects are taken by the API server as they are, without a
// warning, in a namespace that takes restricted pods alone.
func testEveryValueFile(t *testing.T, k kubernetes) {
	objects := 0
	for _, r := range current(t) {
		k.surroundings(t, r)
		t.Run(r.name(), func(t *testing.T) {
			out := k.kubectl(t, namespace, r.text, "apply", "--dry-run=server", "--filename", "-")
			if taken := strings.Count(out, "(server dry run)"); taken != len(r.manifests) {
				t.Errorf("%d of %d objects are taken:\n%s", taken, len(r.manifests), out)
			}
			objects += len(r.manifests)
		})
	}
	t.Logf("%d objects of %d value files", objects, len(current(t)))
}

// A field that no kind has is refused, so that a dry run means something.
func testUnknownField(t *testing.T, k kubernetes) {
	const text = "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec:\n  ports: [{port: 1}]\n  selectors: {a: b}\n"
	out, complaint, err := kubectl.both(t.Context(), text, k.in(t, "default", []string{"apply", "--dry-run=server", "--filename", "-"})...)
	if err == nil || !strings.Contains(complaint, "selectors") {
		t.Errorf("a service with an unknown field is answered by %v\n%s%s", err, out, complaint)
	}
}

// The API server and all that it is asked, one cluster for all.
func TestAPIServer(t *testing.T) {
	k := startKubernetes(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, kubernetes)
	}{
		{"a namespace refuses what is not restricted", testRestriction},
		{"an unknown field is refused", testUnknownField},
		{"every value file is taken", testEveryValueFile},
		{"a release lives", testRelease},
		{"a failed preflight installs nothing", testFailedPreflight},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, k) })
	}
}

// valuesOf is the path of an example by its name.
func valuesOf(name string) string { return filepath.Join(chartPath, "ci", name+".yaml") }

// prepare makes a namespace with the Secrets and ConfigMaps that a value file
// expects to exist.
func (k kubernetes) prepare(t *testing.T, to string, r rendering) {
	t.Helper()
	k.surroundings(t, r)
	if !k.exists(t, "/api/v1/namespaces/"+to) {
		k.namespace(t, to)
	}
	expected := map[string]fields{} // "<collection>/<name>" -> its keys
	for _, m := range r.manifests {
		for _, need := range needsOf(t, m) {
			name := need.Collection + "/" + need.Name
			if expected[name] == nil {
				expected[name] = fields{}
			}
			if need.Key != "" {
				expected[name][need.Key] = "dGVzdA=="
			}
		}
	}
	for _, m := range r.of("ConfigMap") {
		delete(expected, "configmaps/"+m.Metadata.Name)
	}
	for name, keys := range expected {
		collection, object, _ := strings.Cut(name, "/")
		kind := map[string]string{"secrets": "Secret", "configmaps": "ConfigMap"}[collection]
		err := k.Create(t.Context(), fmt.Sprintf("/api/v1/namespaces/%s/%s", to, collection), fields{
			"apiVersion": "v1", "kind": kind, "metadata": fields{"name": object}, "data": keys,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// needsOf lists what the pods of an object cannot start without.
func needsOf(t *testing.T, m manifest) []cluster.Need {
	t.Helper()
	switch m.Kind {
	case "Pod":
		var pod struct{ Spec cluster.PodSpec }
		m.as(t, &pod)
		return pod.Spec.Needs()
	case "Deployment", "StatefulSet", "Job":
		var owner struct {
			Spec struct {
				Template struct{ Spec cluster.PodSpec }
			}
		}
		m.as(t, &owner)
		return owner.Spec.Template.Spec.Needs()
	default:
		return nil
	}
}
