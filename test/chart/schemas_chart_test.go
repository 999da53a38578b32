//go:build chart

package chart

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-dev/rollcall/test/chart/schema"
	"github.com/rollcall-dev/rollcall/tools"
)

// kubernetesVersions are the versions the chart is held to, the oldest first.
func kubernetesVersions(tb testing.TB) []string {
	tb.Helper()
	return strings.Split(version(tb, "KUBERNETES_SCHEMA_VERSIONS"), ",")
}

// A definition is where an operator's custom resources are described, in the
// source of its module.
type definition struct {
	module, version string
	paths           []string
}

var definitions = []definition{
	{"github.com/prometheus-operator/prometheus-operator", "PROMETHEUS_OPERATOR_VERSION", []string{
		"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
		"example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
		"example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
	}},
	{"github.com/kedacore/keda/v2", "KEDA_VERSION", []string{
		"config/crd/bases/keda.sh_scaledobjects.yaml",
		"config/crd/bases/keda.sh_triggerauthentications.yaml",
	}},
	{"github.com/external-secrets/external-secrets", "EXTERNAL_SECRETS_VERSION", []string{
		"config/crds/bases/external-secrets.io_externalsecrets.yaml",
	}},
	{"sigs.k8s.io/gateway-api", "GATEWAY_API_VERSION", []string{
		"config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
	}},
}

// customResources returns the files with the definitions.
func customResources(ctx context.Context) ([]string, error) {
	var files []string
	for _, d := range definitions {
		pinned, err := tools.Version(d.version)
		if err != nil {
			return nil, err
		}
		source, err := sourceOf(ctx, d.module, pinned)
		if err != nil {
			return nil, err
		}
		for _, path := range d.paths {
			files = append(files, filepath.Join(source, path))
		}
	}
	return files, nil
}

// schemaDir is a folder with the schemas of a version of Kubernetes and of the
// custom resources, made once.
func schemaDir(tb testing.TB, kubernetes string) string {
	tb.Helper()
	dir := tb.TempDir()
	source, err := sourceOf(tb.Context(), "k8s.io/kubernetes", kubernetes)
	if err != nil {
		tb.Fatal(err)
	}
	swagger, err := os.ReadFile(filepath.Join(source, "api", "openapi-spec", "swagger.json"))
	if err != nil {
		tb.Fatal(err)
	}
	files, err := schema.Kubernetes(swagger)
	if err != nil {
		tb.Fatal(err)
	}
	write(tb, dir, files)
	write(tb, dir, customSchemas(tb))
	return dir
}

var customOnce = sync.OnceValues(func() (schema.Files, error) {
	paths, err := customResources(context.Background())
	if err != nil {
		return nil, err
	}
	all := schema.Files{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files, err := schema.CustomResource(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for name, content := range files {
			all[name] = content
		}
	}
	return all, nil
})

func customSchemas(tb testing.TB) schema.Files {
	tb.Helper()
	files, err := customOnce()
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

func write(tb testing.TB, dir string, files schema.Files) {
	tb.Helper()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// verdict is what kubeconform says of some files.
type verdict struct {
	Resources []struct{ Filename, Kind, Name, Status, Msg string }
	Summary   struct{ Valid, Invalid, Errors, Skipped int }
}

func conform(tb testing.TB, schemas, kubernetes string, files ...string) verdict {
	tb.Helper()
	args := append([]string{
		"-strict", "-summary", "-output", "json",
		"-kubernetes-version", strings.TrimPrefix(kubernetes, "v"),
		"-schema-location", schemas + "/{{.ResourceKind}}{{.KindSuffix}}.json",
	}, files...)
	out, complaint, _ := kubeconform.both(tb.Context(), "", args...) // its verdict says more than its status
	var v verdict
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		tb.Fatalf("kubeconform: %v\n%s%s", err, out, complaint)
	}
	return v
}

func TestManifestsFitEveryKubernetes(t *testing.T) {
	for _, kubernetes := range kubernetesVersions(t) {
		t.Run(kubernetes, func(t *testing.T) {
			all, dir := renderings(t, kubernetes), t.TempDir()
			var files []string
			for _, r := range all {
				file := filepath.Join(dir, r.name()+".yaml")
				if err := os.WriteFile(file, []byte(r.text), 0o600); err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
			}
			v := conform(t, schemaDir(t, kubernetes), kubernetes, files...)
			for _, r := range v.Resources {
				t.Errorf("%s: %s/%s: %s", nameOf(r.Filename), r.Kind, r.Name, r.Msg)
			}
			if v.Summary.Skipped > 0 {
				t.Errorf("%d manifests were not looked at", v.Summary.Skipped)
			}
			t.Logf("%d value files, %d manifests fit", len(all), v.Summary.Valid)
		})
	}
}

// The chart promises no Kubernetes that it is not held to.
func TestOldestKubernetesIsTheFirstOfTheSchemas(t *testing.T) {
	text, err := os.ReadFile(chartPath + "/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var chart struct{ KubeVersion string }
	if err := yaml.Unmarshal(text, &chart); err != nil {
		t.Fatal(err)
	}
	oldest := strings.Split(strings.TrimPrefix(kubernetesVersions(t)[0], "v"), ".")
	if want := fmt.Sprintf(">=%s.%s.0-0", oldest[0], oldest[1]); chart.KubeVersion != want {
		t.Errorf("the chart takes Kubernetes %s, and is tested with %s", chart.KubeVersion, want)
	}
}

// What the schemas refuse, so that a pass above means something.
func TestSchemasRefuseWhatTheAPIDoesNotHave(t *testing.T) {
	newest := version(t, "KUBERNETES_VERSION")
	schemas := schemaDir(t, newest)
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec:\n  ports: [{port: 1}]\n"
	for name, tc := range map[string]struct {
		manifest string
		fits     bool
	}{
		"a service":                     {service, true},
		"a field it does not have":      {service + "  selectors: {a: b}\n", false},
		"a value of another type":       {service + "  selector: [a]\n", false},
		"a null":                        {service + "  selector:\n", false},
		"the same key twice":            {service + "  ports: []\n", false},
		"an API that is gone":           {strings.Replace(service, "v1", "v1beta1", 1), false},
		"a field that is missing":       {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {}}\n", false},
		"a port by name":                {strings.Replace(service, "port: 1", "port: 1, targetPort: http", 1), true},
		"a port that is neither":        {strings.Replace(service, "port: 1", "port: 1, targetPort: true", 1), false},
		"a monitor":                     {"apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: x}\nspec: {selector: {}}\n", true},
		"a monitor with an odd field":   {"apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: x}\nspec: {selector: {}, endpoint: []}\n", false},
		"an autoscaler with odd fields": {"apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: x}\nspec: {scaleTargetRef: {name: x}, triggers: [], maxReplicas: 3}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "manifest.yaml")
			if err := os.WriteFile(file, []byte(tc.manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			v := conform(t, schemas, newest, file)
			if fits := v.Summary.Valid == 1; fits != tc.fits || v.Summary.Valid+v.Summary.Invalid+v.Summary.Errors != 1 {
				t.Errorf("fits = %v (%+v), want %v", fits, v, tc.fits)
			}
		})
	}
}
