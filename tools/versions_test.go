package tools

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestVersionReadsThePinnedFile(t *testing.T) {
	for _, name := range []string{
		"PULSAR_VERSION", "MONGO_JAVA_SERVER_VERSION", "SLF4J_VERSION", "MAVEN_DEPENDENCY_PLUGIN_VERSION",
		"MONGO_IMAGE_VERSION", "REDIS_IMAGE_VERSION", "GOLANGCI_LINT_VERSION", "CYCLONEDX_GOMOD_VERSION",
		"HELM_VERSION", "HELM_UNITTEST_VERSION", "YAML_JSONPATH_VERSION", "HELM_DOCS_VERSION", "KUBECONFORM_VERSION",
		"KUBERNETES_VERSION", "PROMETHEUS_OPERATOR_VERSION", "KEDA_VERSION", "EXTERNAL_SECRETS_VERSION", "GATEWAY_API_VERSION",
	} {
		version, err := Version(name)
		if err != nil {
			t.Errorf("Version(%s): %v", name, err)
		}
		if !regexp.MustCompile(`^v?\d+\.\d+(\.\d+)?$`).MatchString(version) {
			t.Errorf("Version(%s) = %q, want a plain version", name, version)
		}
	}
}

func TestVersionOfAnUnknownNameIsAnError(t *testing.T) {
	if version, err := Version("NO_SUCH_VERSION"); err == nil {
		t.Errorf("Version(NO_SUCH_VERSION) = %q, want an error", version)
	}
}

// The compose file and the chart's development servers cannot include
// versions.env, so they repeat three versions.
func TestOthersUseThePinnedVersions(t *testing.T) {
	for _, file := range []string{"deploy/compose.yaml", "charts/rollcall/values.yaml"} {
		text, err := os.ReadFile("../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for image, name := range map[string]string{
			"apachepulsar/pulsar": "PULSAR_VERSION",
			"mongo":               "MONGO_IMAGE_VERSION",
			"redis":               "REDIS_IMAGE_VERSION",
		} {
			version, err := Version(name)
			if err != nil {
				t.Fatal(err)
			}
			if want := "image: " + image + ":" + version + "\n"; !strings.Contains(string(text), want) {
				t.Errorf("%s has no line %q", file, want)
			}
		}
	}
}
