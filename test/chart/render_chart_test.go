//go:build chart

package chart

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-dev/rollcall/tools"
)

// A manifest is one object that the chart renders.
type manifest struct {
	template string // below the chart's folder: "templates/deployment.yaml"
	text     string
	manifestHead
}

type manifestHead struct {
	APIVersion string
	Kind       string
	Metadata   struct {
		Name        string
		Namespace   string
		Labels      map[string]string
		Annotations map[string]string
	}
}

func (m manifest) String() string { return m.Kind + "/" + m.Metadata.Name }

// as reads the object into a value.
func (m manifest) as(tb testing.TB, into any) {
	tb.Helper()
	if err := yaml.Unmarshal([]byte(m.text), into); err != nil {
		tb.Fatalf("read %s: %v", m, err)
	}
}

// hook says at which points of a release's life Helm makes the object; "" for
// one that belongs to the release.
func (m manifest) hook() string { return m.Metadata.Annotations["helm.sh/hook"] }

// A rendering is all that one value file makes of the chart.
type rendering struct {
	values    string // the path of the file
	text      string
	manifests []manifest
}

func (r rendering) name() string { return nameOf(r.values) }

// of returns the objects of a kind.
func (r rendering) of(kind string) []manifest {
	var found []manifest
	for _, m := range r.manifests {
		if m.Kind == kind {
			found = append(found, m)
		}
	}
	return found
}

// The APIs of operators that a cluster of ours would have.
var operatorAPIs = []string{
	"monitoring.coreos.com/v1", "monitoring.coreos.com/v1/ServiceMonitor", "monitoring.coreos.com/v1/PodMonitor",
	"monitoring.coreos.com/v1/PrometheusRule", "keda.sh/v1alpha1", "keda.sh/v1alpha1/ScaledObject",
	"external-secrets.io/v1", "external-secrets.io/v1/ExternalSecret",
	"gateway.networking.k8s.io/v1", "gateway.networking.k8s.io/v1/HTTPRoute",
}

// render renders the chart for a namespace and a version of Kubernetes
// ("v1.35.4").
func render(ctx context.Context, values, namespace, kubernetes string) (rendering, error) {
	args := []string{"template", release, chartPath, "--namespace", namespace, "--values", values, "--kube-version", kubernetes}
	for _, api := range operatorAPIs {
		args = append(args, "--api-versions", api)
	}
	text, err := helm.run(ctx, "", args...)
	if err != nil {
		return rendering{}, err
	}
	manifests, err := split(text)
	return rendering{values: values, text: text, manifests: manifests}, err
}

// split takes apart what helm template prints.
func split(text string) ([]manifest, error) {
	var manifests []manifest
	for _, document := range strings.Split("\n"+text, "\n---\n") {
		m := manifest{text: document}
		if err := yaml.Unmarshal([]byte(document), &m.manifestHead); err != nil {
			return nil, fmt.Errorf("read a manifest: %w\n%s", err, document)
		}
		if m.Kind == "" {
			continue
		}
		for line := range strings.Lines(document) {
			if source, ok := strings.CutPrefix(strings.TrimSpace(line), "# Source: rollcall/"); ok {
				m.template = source
			}
		}
		manifests = append(manifests, m)
	}
	return manifests, nil
}

var rendered = struct {
	sync.Mutex
	byVersion map[string][]rendering
}{byVersion: map[string][]rendering{}}

// renderings returns what each value file makes of the chart, for a version of
// Kubernetes. Each is rendered once.
func renderings(tb testing.TB, kubernetes string) []rendering {
	tb.Helper()
	rendered.Lock()
	defer rendered.Unlock()
	if known := rendered.byVersion[kubernetes]; known != nil {
		return known
	}
	var all []rendering
	for _, values := range valueFiles(tb) {
		r, err := render(tb.Context(), values, namespace, kubernetes)
		if err != nil {
			tb.Fatal(err)
		}
		if len(r.manifests) == 0 {
			tb.Fatalf("%s renders nothing", values)
		}
		all = append(all, r)
	}
	rendered.byVersion[kubernetes] = all
	return all
}

// version returns a pinned version; the test ends when there is none.
func version(tb testing.TB, name string) string {
	tb.Helper()
	pinned, err := tools.Version(name)
	if err != nil {
		tb.Fatal(err)
	}
	return pinned
}

// current returns what each value file makes of the chart for the API server
// under test.
func current(tb testing.TB) []rendering {
	tb.Helper()
	return renderings(tb, version(tb, "KUBERNETES_VERSION"))
}
