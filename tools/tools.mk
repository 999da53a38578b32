# The tools that are built from source, each by its version in versions.env
# into a place of its own in the cache: tools-bin/<tool>-<version>/<tool>.
TOOLS := $(CACHE)/tools-bin

GOLANGCI_LINT := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint
HELM := $(TOOLS)/helm-$(HELM_VERSION)/helm
HELM_UNITTEST := $(TOOLS)/helm-unittest-$(HELM_UNITTEST_VERSION)/helm-unittest
HELM_DOCS := $(TOOLS)/helm-docs-$(HELM_DOCS_VERSION)/helm-docs
KUBECONFORM := $(TOOLS)/kubeconform-$(KUBECONFORM_VERSION)/kubeconform
KUBE_APISERVER := $(TOOLS)/kube-apiserver-$(KUBERNETES_VERSION)/kube-apiserver
KUBE_CONTROLLER_MANAGER := $(TOOLS)/kube-controller-manager-$(KUBERNETES_VERSION)/kube-controller-manager
KUBECTL := $(TOOLS)/kubectl-$(KUBERNETES_VERSION)/kubectl
CHART_TOOLS := $(HELM) $(HELM_UNITTEST) $(HELM_DOCS) $(KUBECONFORM) $(KUBECTL) $(KUBE_APISERVER) $(KUBE_CONTROLLER_MANAGER)

##@ Build the tools

.PHONY: tools
tools: $(GOLANGCI_LINT) ## build the linters into the cache, once (about 5 minutes)

.PHONY: tools-chart
tools-chart: $(CHART_TOOLS) ## build Helm, what checks charts, and a Kubernetes API server, once (about 15 minutes)

# $(call build,how long,commands that leave the tool in the folder they run in)
# Built beside its place and renamed: a build that was cut off leaves nothing
# that looks whole.
define build
	@mkdir -p $(@D)
	@unfinished=$$(mktemp -d $(TOOLS)/unfinished-XXXXXX); trap 'rm -rf "$$unfinished"' EXIT; \
	echo 'building $(notdir $(@D)) (once, about $(1))'; \
	cd "$$unfinished"; export GOBIN="$$unfinished" GOFLAGS= CGO_ENABLED=0; \
	$(2); \
	mv $(@F) $@
endef

# A tool whose module cannot be installed by its name, because it replaces
# others, is built in a module made for it.
SCRATCH := go mod init rollcall.invalid/tool 2>/dev/null; export GOFLAGS=-mod=mod

$(GOLANGCI_LINT):
	$(call build,5 minutes,go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION))

# A release of Helm knows which Kubernetes it renders for when no server says
# so; ours renders for the one under test.
KUBERNETES_MINOR := $(word 2,$(subst ., ,$(KUBERNETES_VERSION)))
HELM_PACKAGE := helm.sh/helm/v3
HELM_FACTS := -X $(HELM_PACKAGE)/internal/version.version=$(HELM_VERSION) \
  $(foreach package,chartutil lint/rules,\
    -X $(HELM_PACKAGE)/pkg/$(package).k8sVersionMajor=1 -X $(HELM_PACKAGE)/pkg/$(package).k8sVersionMinor=$(KUBERNETES_MINOR))

$(HELM):
	$(call build,3 minutes,go install -trimpath -ldflags "-s -w $(HELM_FACTS)" $(HELM_PACKAGE)/cmd/helm@$(HELM_VERSION))

# It renders with the same Helm. The JSON path it replaces is its own fork.
HELM_UNITTEST_PACKAGE := github.com/helm-unittest/helm-unittest
$(HELM_UNITTEST):
	$(call build,1 minute,$(SCRATCH); \
	  go mod edit -replace github.com/vmware-labs/yaml-jsonpath=github.com/helm-unittest/yaml-jsonpath@$(YAML_JSONPATH_VERSION); \
	  go get $(HELM_UNITTEST_PACKAGE)/cmd/helm-unittest@$(HELM_UNITTEST_VERSION) $(HELM_PACKAGE)@$(HELM_VERSION); \
	  go build -trimpath -ldflags "-s -w $(HELM_FACTS) -X $(HELM_UNITTEST_PACKAGE)/internal/build.version=$(HELM_UNITTEST_VERSION)" \
	    -o . $(HELM_UNITTEST_PACKAGE)/cmd/helm-unittest)

$(HELM_DOCS):
	$(call build,15 seconds,go install -trimpath github.com/norwoodj/helm-docs/cmd/helm-docs@$(HELM_DOCS_VERSION))

$(KUBECONFORM):
	$(call build,10 seconds,go install -trimpath github.com/yannh/kubeconform/cmd/kubeconform@$(KUBECONFORM_VERSION))

# Kubernetes replaces the modules it publishes by folders of its own tree; they
# are published as v0 of the same version. What they say of themselves is set
# at build time.
KUBERNETES_V0 := $(patsubst v1.%,v0.%,$(KUBERNETES_VERSION))
KUBERNETES_FACTS := $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version,\
  -X $(package).gitVersion=$(KUBERNETES_VERSION) -X $(package).gitMajor=1 -X $(package).gitMinor=$(KUBERNETES_MINOR))
KUBERNETES_BUILD = $(SCRATCH); \
  staged=$$(go mod download -json k8s.io/kubernetes@$(KUBERNETES_VERSION) | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p'); \
  sed -n 's|^\t*\(k8s.io/[a-z-]*\) => ./staging/.*|\1|p' "$$staged" \
    | while read -r module; do go mod edit -replace "$$module=$$module@$(KUBERNETES_V0)"; done; \
  go get k8s.io/kubernetes@$(KUBERNETES_VERSION); \
  go build -trimpath -ldflags "-s -w $(KUBERNETES_FACTS)" -o . k8s.io/kubernetes/cmd/$(@F)

$(KUBE_APISERVER):
	$(call build,7 minutes,$(KUBERNETES_BUILD))

$(KUBE_CONTROLLER_MANAGER):
	$(call build,2 minutes,$(KUBERNETES_BUILD))

$(KUBECTL):
	$(call build,1 minute,$(KUBERNETES_BUILD))
