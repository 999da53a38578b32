# The image: its programs, what they are made of, and its test. Included by the
# Makefile.

# IMAGE:IMAGE_TAG names the image; IMAGE_ARCH is what it runs on.
IMAGE ?= ghcr.io/rollcall-dev/rollcall
IMAGE_ARCH ?= $(shell go env GOARCH)
# What the toolchain stamped into the program: a tag, or a commit's pseudo-version.
IMAGE_VERSION = $(shell go version -m $(IMAGE_BIN)/rollcall | awk '$$1 == "mod" { print $$3 }')
IMAGE_TAG ?= $(subst +,-,$(IMAGE_VERSION))

IMAGE_BIN := bin/image/linux/$(IMAGE_ARCH)
IMAGE_FILE := bin/image/rollcall-linux-$(IMAGE_ARCH).tar
CYCLONEDX := $(CACHE)/tools-bin/cyclonedx-gomod-$(CYCLONEDX_GOMOD_VERSION)/cyclonedx-gomod

# Images are files in a folder (vfs) and steps run without namespaces (chroot),
# which works within a container too.
export BUILDAH_ISOLATION ?= chroot
export STORAGE_DRIVER ?= vfs

##@ Ship it

# GOFLAGS of the machine must not get into what is shipped.
.PHONY: image-binaries
image-binaries: ## build the programs of the image, stamped with the commit: IMAGE_ARCH=arm64
	CGO_ENABLED=0 GOFLAGS= GOOS=linux GOARCH=$(IMAGE_ARCH) \
	  go build -trimpath -buildvcs=true -ldflags='-s -w' -o $(IMAGE_BIN)/ ./cmd/rollcall ./cmd/wecomsim

.PHONY: image
image: image-binaries sbom ## build the image into bin/image/, with buildah and without a network
	@mkdir -p $(CACHE)
	@store=$$(mktemp -d $(CACHE)/image-XXXXXX); trap 'rm -rf "$$store"' EXIT; \
	buildah="buildah --root $$store/storage --runroot $$store/run"; \
	$$buildah build --quiet --arch $(IMAGE_ARCH) --format oci --identity-label=false --timestamp $(shell git log -1 --format=%ct) \
	  --build-arg TARGETARCH=$(IMAGE_ARCH) --build-arg VERSION=$(IMAGE_VERSION) \
	  --build-arg REVISION=$(shell git rev-parse HEAD) --build-arg CREATED=$(shell git log -1 --format=%cI) \
	  --tag $(IMAGE):$(IMAGE_TAG) . >/dev/null; \
	rm -f $(IMAGE_FILE); \
	$$buildah push --quiet --digestfile $(IMAGE_BIN)/digest $(IMAGE):$(IMAGE_TAG) oci-archive:$(IMAGE_FILE):$(IMAGE):$(IMAGE_TAG)
	@echo "$(IMAGE_FILE): $(IMAGE):$(IMAGE_TAG) $$(cat $(IMAGE_BIN)/digest)"

.PHONY: sbom
sbom: image-binaries $(CYCLONEDX) ## write a CycloneDX SBOM beside each program of the image
	@for program in rollcall wecomsim; do \
	  $(CYCLONEDX) bin -json -std -noserial -notimestamp -output $(IMAGE_BIN)/$$program.cdx.json $(IMAGE_BIN)/$$program; \
	done

.PHONY: image-test
image-test: image $(STACK) ## run the image under podman, locked down: what it is, and a campaign in containers
	$(STACK) run -- go test -v -count=1 -timeout 15m -tags image $(TEST_FLAGS) ./test/image -archive $(abspath $(IMAGE_FILE)) -programs $(abspath $(IMAGE_BIN))

.PHONY: image-reproducible
image-reproducible: image-binaries ## build the programs again elsewhere, with an empty cache, and compare
	go test -v -count=1 -timeout 30m -tags image -run Reproducible ./test/image -again -programs $(abspath $(IMAGE_BIN))

# Beside its place, then renamed: a build that was cut off leaves nothing that
# looks whole.
$(CYCLONEDX):
	@mkdir -p $(dir $@)
	@unfinished=$$(mktemp -d $(CACHE)/tools-bin/unfinished-XXXXXX); trap 'rm -rf "$$unfinished"' EXIT; \
	echo 'building cyclonedx-gomod $(CYCLONEDX_GOMOD_VERSION) (once)'; \
	GOBIN=$$unfinished GOFLAGS= go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX_GOMOD_VERSION); \
	mv "$$unfinished/cyclonedx-gomod" $@
