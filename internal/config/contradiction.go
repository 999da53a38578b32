package config

import (
	"fmt"
	"slices"
	"strings"
)

// contradiction is a rule between several variables.
type contradiction struct {
	names   []string // the variables it is about, the one to change first
	broken  bool
	because string
}

// contradictions checks the rules between variables. A rule about a variable
// that is wrong by itself is left out: it would only repeat the mistake.
func (c Config) contradictions(wrong []Mistake) []Mistake {
	var found []Mistake
	for _, rule := range slices.Concat(c.Pulsar.rules(), c.MongoDB.rules(), c.Redis.rules(), c.Budget.rules(), c.Refresher.rules(), c.Keeper.rules(), c.Console.rules(), c.between()) {
		if !rule.broken || rule.touches(wrong) {
			continue
		}
		shown := make([]string, len(rule.names))
		for i, name := range rule.names {
			shown[i] = name + c.valueOf(name)
		}
		found = append(found, Mistake{Problem: strings.Join(shown, " and ") + ": " + rule.because})
	}
	return found
}

func (r contradiction) touches(wrong []Mistake) bool {
	return slices.ContainsFunc(wrong, func(m Mistake) bool { return slices.Contains(r.names, m.Name) })
}

// wholePair is the rule about the files of a certificate and its key; prefix
// begins the names of both variables.
func wholePair(prefix, cert, key string) contradiction {
	return contradiction{
		names:   []string{prefix + "_CERT_FILE", prefix + "_KEY_FILE"},
		broken:  (cert == "") != (key == ""),
		because: "mutual TLS needs both",
	}
}

// valueOf shows what a variable came to, be it set or a default.
func (c Config) valueOf(name string) string {
	for _, f := range fields(&c) {
		if f.Name == name {
			return fmt.Sprintf("=%q", fmt.Sprint(f.into.Interface()))
		}
	}
	return ""
}

// between are the rules that touch more than one concern.
func (c Config) between() []contradiction {
	return []contradiction{
		{
			names:   []string{"ROLLCALL_REFRESHER_DRAIN_TIMEOUT", "ROLLCALL_WECOM_CALL_TIMEOUT"},
			broken:  c.Refresher.DrainTimeout <= c.WeCom.CallTimeout,
			because: "a call begun before the stop must be able to end while draining, so the first has to be longer",
		},
		{
			names:   []string{"ROLLCALL_MONGODB_MAX_POOL", "ROLLCALL_REFRESHER_WORKERS"},
			broken:  c.MongoDB.MaxPool < c.Refresher.Workers,
			because: "workers would wait for each other's connections, so the first must not be smaller",
		},
		{
			names:   []string{"ROLLCALL_BUDGET_DELAY", "ROLLCALL_REFRESHER_PARK_AFTER"},
			broken:  c.Budget.Delay >= c.Refresher.ParkAfter,
			because: "an admission would outlive the longest wait for it, so the first has to be shorter",
		},
	}
}
