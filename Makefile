# `make help` lists the targets. Everything pinned that is not a Go module is
# in tools/versions.env.
include tools/versions.env

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/rollcall
include tools/tools.mk

STACK := .run/bin/stack

# Two cores are the smallest machine this has to be comfortable on: two
# packages at a time, and more tests than cores in each, since those of a
# server mostly wait.
GO_TEST := go test -p 2 -parallel 8
PACKAGES ?= ./...
RUN ?=
TEST_FLAGS := $(if $(RUN),-run '$(RUN)')

##@ Use it

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\n%s\n' 'Variables: ARGS (of demo), PACKAGES and RUN (of the test targets)'

.PHONY: demo
demo: ## start the servers, the vendor simulator and Rollcall, and show the loop: make demo ARGS=…
	go run ./cmd/rollcall demo $(ARGS)

.PHONY: build
build: ## build the static binaries into bin/
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/...

##@ Test it

# What measures time runs by itself afterwards, one package after the other and
# without the race detector: beside other tests it would measure those. The
# budget's simulated hours take minutes under the race detector; its concurrent
# parts run with it, the hours without.
PROOFS := ./test/broker ./test/e2e ./test/campaign ./test/draw
QUOTA := ./test/quota
FAULTS := ./test/faults
KEEPER := ./test/keeper
SIM := ./test/sim
OVERLOAD := ./test/overload
OBSERVABILITY := ./test/observability
HOURS := ./internal/adapter/redisbudget
SEQUENTIAL := ConstantDemand|NoSchedule|StormingTenants|HardlyDelay|Burst
# The race detector's runtime of this Go version crashes (a segmentation fault
# below synctest.Run) in the long bubbles of these tests; they run without it.
UNRACED := ^TestCrashesAtEveryStep$$
UNRACED_IN := ./internal/notify
RACED = $$(go list -tags integration $(PACKAGES) | grep -vE '/test/(broker|console|draw|e2e|campaign|faults|keeper|observability|operator|overload|quota|sim|upgrade)$$|/redisbudget$$')

.PHONY: test
test: $(STACK) ## every test, on a stack of its own; all but the timed ones with the race detector
	$(STACK) run -- $(MAKE) --no-print-directory test-on-stack

.PHONY: test-on-stack
test-on-stack: # within `stack run`
	$(GO_TEST) -race -count=1 -timeout 12m -tags integration -skip '$(UNRACED)' $(TEST_FLAGS) $(RACED)
	go test -count=1 -timeout 5m -run '$(UNRACED)' $(UNRACED_IN)
	go test -race -count=1 -timeout 5m -skip '$(SEQUENTIAL)' $(TEST_FLAGS) $(HOURS)
	SIM_SEEDS=5000 go test -count=1 -timeout 5m $(TEST_FLAGS) $(SIM)
	go test -p 1 -count=1 -timeout 12m -tags integration $(TEST_FLAGS) $(PROOFS) $(OVERLOAD)
	go test -p 2 -count=1 -timeout 12m -tags integration $(TEST_FLAGS) $(FAULTS) $(HOURS) $(KEEPER) $(QUOTA)

.PHONY: test-proofs
test-proofs: $(STACK) ## the timed tests alone, with their figures
	$(STACK) run -- go test -p 1 -v -count=1 -timeout 10m -tags integration $(TEST_FLAGS) $(PROOFS)
	$(STACK) run -- go test -v -count=1 -timeout 10m -tags integration $(TEST_FLAGS) $(HOURS) -all-hours

.PHONY: test-faults
test-faults: ## kill refreshers at every step and disturb all they stand on, in full, with both tables
	go test -v -count=1 -timeout 40m -tags integration $(TEST_FLAGS) $(FAULTS) -full

.PHONY: test-quota
test-quota: $(STACK) ## exact counters, fan-outs, draws and walls, in full, with their figures
	$(STACK) run -- go test -p 1 -v -count=1 -timeout 30m -tags integration $(TEST_FLAGS) $(QUOTA) ./test/draw -full
	go test -count=1 -v -run 'Wall|Published|Answers' ./internal/adapter/httpapi ./internal/adapter/callback

.PHONY: test-keeper
test-keeper: $(STACK) ## kill and freeze keepers in the middle of their sweeps, ten times
	$(STACK) run -- go test -v -count=1 -timeout 15m -tags integration $(TEST_FLAGS) $(KEEPER) -full

.PHONY: test-backstop
test-backstop: $(STACK) ## what no event follows, the audit at scale and beside live load, the spot check's interval, a company that moves over
	go test -v -count=1 -run 'Interval' $(TEST_FLAGS) ./internal/backstop/spot
	ROLLCALL_STACK_MONGO_MEMORY=-Xmx4g $(STACK) run -- go test -v -count=1 -timeout 40m -tags integration \
		-run 'NoEvent|AuditAtScale|Backstop' $(TEST_FLAGS) ./test/e2e -codes 200000 -backstop-full
	$(STACK) run -- go test -v -count=1 -timeout 10m -tags integration $(TEST_FLAGS) ./test/migration

# Codes of the explanations at scale; the stand-in for MongoDB keeps all in memory.
# PLAN_WITHIN is how far a plan may be off, as a share.
OPERATOR_CODES ?= 200000
PLAN_WITHIN ?= 0.10
.PHONY: test-operator
test-operator: $(STACK) test-console ## what an operator is told and does, with the figures: explanations over 200 000 codes, the trail's cost, plans, the console
	$(STACK) run -- go test -v -count=1 -timeout 10m -tags integration -run 'Ticket' $(TEST_FLAGS) ./test/e2e ./test/quota
	ROLLCALL_STACK_MONGO_MEMORY=-Xmx4g $(STACK) run -- go test -v -count=1 -timeout 40m -tags integration $(TEST_FLAGS) ./test/operator -codes $(OPERATOR_CODES) -plan-within $(PLAN_WITHIN)

# Debian's chromium is the browser; npm fetches axe-core, which judges pages.
.PHONY: test-console
test-console: $(STACK) ## the console in a real browser, on real parts
	$(STACK) run -- go test -v -count=1 -timeout 20m -tags integration $(TEST_FLAGS) ./test/console

.PHONY: test-overload
test-overload: $(STACK) ## a storm of a blocked tenant, and Redis gone for a minute, in full; LONG=1: WeCom's real hour (1.5 h)
	$(STACK) run -- go test -v -count=1 -timeout $(if $(LONG),4h,25m) -tags integration $(TEST_FLAGS) $(OVERLOAD) $(if $(LONG),-long,-full)


.PHONY: chart-test
chart-test: $(CHART_TOOLS) ## the Helm chart: what it refuses, what it renders, and its life on a real API server
	go test -v -count=1 -timeout 20m -tags chart $(TEST_FLAGS) ./test/chart | sed '/^ *=== /d'

# Debian's prometheus has promtool.
.PHONY: rules-test
rules-test: ## the alert rules by promtool: each fires, does not, clears
	promtool check rules charts/rollcall/files/rules/*.yaml
	promtool test rules test/rules/*.yaml
	go test -count=1 ./test/rules ./tools/dashboards

.PHONY: test-observability
test-observability: ## a real Prometheus on a demo: every query and rule of the chart, and what a person is told of five faults
	go test -v -count=1 -timeout 15m -tags integration $(TEST_FLAGS) $(OBSERVABILITY)

# UPGRADE_FROM=v1.2.3 names the version that is there; the commit before this
# one if it is empty.
UPGRADE_FROM ?=
.PHONY: test-upgrade
test-upgrade: $(STACK) ## roll from the commit before to this one and back under load: make test-upgrade UPGRADE_FROM=v1.2.3
	UPGRADE_FROM=$(UPGRADE_FROM) $(STACK) run -- go test -v -count=1 -timeout 15m -tags integration $(TEST_FLAGS) ./test/upgrade $(if $(FULL),-full)


.PHONY: test-unit
test-unit: ## the tests that need no server, in seconds
	$(GO_TEST) -timeout 2m $(TEST_FLAGS) $(PACKAGES)

.PHONY: test-integration
test-integration: $(STACK) ## all tests on a stack of its own, without the race detector
	$(STACK) run -- $(GO_TEST) -count=1 -timeout 10m -tags integration $(TEST_FLAGS) $(PACKAGES)

# SEED=n plays one schedule and prints what happens; SEEDS=n plays many.
SEEDS ?= 20000
.PHONY: sim
sim: ## simulated schedules with every kind of fault: make sim SEEDS=20000, or SEED=7 for its trace
	go run ./test/sim/cmd $(if $(SEED),-seed $(SEED),-seeds $(SEEDS))

.PHONY: sim-mutants
sim-mutants: ## show that the simulation notices each step that is taken out
	go run ./test/sim/mutants $(if $(RUN),-only '$(RUN)')

.PHONY: stack-up
stack-up: $(STACK) ## start Pulsar, Redis and the MongoDB stand-in and leave them running
	$(STACK) up

.PHONY: stack-down
stack-down: $(STACK) ## stop them
	$(STACK) down

# Built anew each time; `go build` knows whether there is anything to do. It is
# a binary, not `go run`, which would turn every exit status into 1.
.PHONY: $(STACK)
$(STACK):
	@go build -o $@ ./test/stack/cmd

include tools/image.mk

##@ Keep it clean

.PHONY: check
check: lint check-generated check-modules ## all that CI checks but the tests

.PHONY: lint
lint: $(GOLANGCI_LINT) ## run the linters, and prove that the layers hold
	$(GOLANGCI_LINT) run
	GOLANGCI_LINT=$(GOLANGCI_LINT) go test -count=1 -tags lint ./test/layers

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## format the code (gofumpt and goimports)
	$(GOLANGCI_LINT) fmt

.PHONY: generate
generate: $(HELM_DOCS) ## write the generated docs anew
	@mkdir -p .run
	go run ./cmd/rollcall help env --markdown > .run/configuration.md
	mv .run/configuration.md docs/configuration.md
	go run ./cmd/rollcall help man --into man
	$(HELM_DOCS) --log-level=warning --sort-values-order=file --chart-search-root charts/rollcall
	go run ./tools/dashboards

.PHONY: man
man: ## write the manual pages under man/ anew
	go run ./cmd/rollcall help man --into man

.PHONY: dashboards
dashboards: ## write the Grafana dashboards anew
	go run ./tools/dashboards

.PHONY: dashboard-pictures
dashboard-pictures: ## play a demo and draw the dashboards from it, for docs/images (needs prometheus and chromium)
	go run ./test/observability/pictures

.PHONY: check-generated
check-generated: ## fail when a generated doc is not what its source says
	go run ./cmd/rollcall help env --markdown | diff -u docs/configuration.md - \
	  || { echo 'docs/configuration.md is out of date: run make generate' >&2; exit 1; }
	@rm -rf .run/man
	go run ./cmd/rollcall help man --into .run/man
	diff -ru man .run/man || { echo 'man/ is out of date: run make man' >&2; exit 1; }

.PHONY: check-modules
check-modules: ## fail when go.mod or go.sum is not tidy or a module was altered
	go mod verify
	go mod tidy -diff

.PHONY: clean
clean: stack-down ## stop the local servers and remove what was built
	rm -rf .run bin
