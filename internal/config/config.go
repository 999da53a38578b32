package config

import (
	"fmt"
	"os"
	"reflect"
)

// Config is all that can be set, by concern. A Config returned by [Load]
// without an error is valid as a whole.
type Config struct {
	Pulsar    Pulsar    `about:"The broker: where refresh events come from."`
	MongoDB   MongoDB   `about:"The store: facts, records, the dirty set."`
	Redis     Redis     `about:"Budgets, slots, rotation sets and shared access tokens."`
	WeCom     WeCom     `about:"The vendor's API."`
	Seal      Seal      `about:"The keys that seal secrets at rest."`
	Budget    Budget    `about:"How many calls WeCom allows, and how they are shared. A rate follows from each pair of limits: as fast as both windows allow after a whole burst."`
	Refresher Refresher `about:"The consumer: how much is done at once, and how long a code waits."`
	Keeper    Keeper    `about:"The keeper: when another one takes over, and how it mends."`
	Audit     Audit     `about:"The audit: how codes are compared with their facts, without a call to WeCom."`
	Spot      Spot      `about:"The spot check: some codes are compared with what WeCom holds, from spare budget."`
	Shadow    Shadow    `about:"Shadow mode: another system pushes, and a keeper compares its lists with Rollcall's."`
	Ingress   Ingress   `about:"The HTTP side: callbacks, the API, draws. Fan-outs keep to the same pace in the keeper."`
	API       API       `about:"The HTTP API: tokens, and how much one of them may ask for."`
	Lane      Lane      `about:"Which codes are pushed at once and which at intervals."`
	Draw      Draw      `about:"The landing page: who may open it how often, and what it may load."`
	Console   Console   `about:"The operator's console in a browser, which the ingress serves."`
	Alert     Alert     `about:"Who is told of what cannot wait: that WeCom blocks a tenant, or that Redis is gone."`
	Notify    Notify    `about:"How the tenants' people are told of what happened to their staff and codes."`
	Telemetry Telemetry `about:"Health, metrics and logs. Traces and OTLP follow OpenTelemetry's own OTEL_ variables."`
}

// Concern names a part of the configuration: a field of [Config].
type Concern string

// The concerns with variables that have no default: a role names those it
// cannot work without.
const (
	NeedPulsar  Concern = "Pulsar"
	NeedMongoDB Concern = "MongoDB"
	NeedRedis   Concern = "Redis"
)

// Load reads the environment. A variable set to nothing counts as not set. All
// that is set is checked, whoever uses it; a variable without a default is
// missed only when its concern is among needs. The error is a [*Mistakes].
func Load(needs ...Concern) (Config, error) {
	var cfg Config
	var wrong []Mistake
	for _, f := range fields(&cfg) {
		if m, ok := f.load(needs); !ok {
			wrong = append(wrong, m)
		}
	}
	if cfg.Refresher.Instance == "" {
		cfg.Refresher.Instance = instanceName()
	}
	wrong = append(wrong, cfg.contradictions(wrong)...)
	if len(wrong) > 0 {
		return Config{}, &Mistakes{List: wrong}
	}
	return cfg, nil
}

// instanceName tells this process from its siblings, for a person.
func instanceName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}

// fields lists the variables of cfg in the order of the structs.
func fields(cfg *Config) []field {
	var all []field
	root := reflect.ValueOf(cfg).Elem()
	for i := range root.NumField() {
		concern := root.Type().Field(i)
		section := root.Field(i)
		for j := range section.NumField() {
			all = append(all, newField(Concern(concern.Name), section.Type().Field(j), section.Field(j)))
		}
	}
	return all
}
