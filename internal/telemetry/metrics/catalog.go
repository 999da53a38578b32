package metrics

import (
	"slices"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Kind is the kind of an instrument in OpenTelemetry's words.
type Kind string

// The kinds in use.
const (
	Counter       Kind = "counter"
	Histogram     Kind = "histogram"
	UpDownCounter Kind = "observable up-down counter"
	Observed      Kind = "observable counter"
	Gauge         Kind = "observable gauge"
)

// Other stands for a value that is not in its label's set.
const Other = "other"

// None stands for a label that does not apply.
const None = "none"

// Label is an attribute with all the values it can have.
type Label struct {
	Key    string
	Values []string
}

// Instrument describes one instrument.
type Instrument struct {
	Name       string // by OpenTelemetry's conventions
	Prometheus string // as Prometheus sees it
	Kind       Kind
	Unit       string // UCUM; in braces: what is counted
	Labels     []Label
	Buckets    []float64 // upper bounds, of a histogram
	What       string
	Action     string // what an operator does about it
}

// Series is the most time series that the labels allow.
func (i Instrument) Series() int {
	n := 1
	for _, label := range i.Labels {
		n *= len(label.Values)
	}
	return n
}

var (
	lanes     = Label{"lane", []string{"fast", "slow"}}
	throttled = Label{"throttled", []string{"false", "true"}}
	states    = Label{"state", []string{"runnable", "held", "in_flight"}}
	endings   = Label{"outcome", []string{"done", "hold", "park", "fail", Other}}
	answers   = Label{"outcome", []string{string(Applied), string(Refused), string(Unknown), Other}}

	waits = []reason.Reason{
		reason.Throttled, reason.Blocked, reason.SlowLane, reason.Backoff, reason.BreakerOpen, reason.Unsettled,
		reason.Paced, reason.Contended, reason.Suspended, reason.OnHold, reason.Overflow, reason.StoreDown, reason.HandedBack, reason.Unpublished,
	}
	failures = []reason.Reason{
		reason.Transient, reason.Gone, reason.BadMember, reason.Credentials, reason.UnknownError, reason.Panicked,
		reason.UnknownTenant, reason.UnknownCode, reason.InvalidFacts, reason.WrongTenant,
	}
	empties   = []reason.Reason{reason.NobodyLeft} // a verdict that is parked
	successes = []reason.Reason{
		reason.Pushed, reason.Unchanged, reason.Coalesced, reason.Deleted, reason.Shadowed, reason.Wayless, reason.NobodyLeft, reason.BlastRadius,
	}
	// audits are what the audit marks codes with.
	audits  = []reason.Reason{reason.Stale, reason.NeverPushed, reason.RecordLies, reason.SetMissing, reason.SetDiffers, reason.ForeignEdit, reason.AttributesDiffer}
	poisons = []reason.Reason{
		reason.Undecodable, reason.WrongVersion, reason.NoKey, reason.KeyMismatch, reason.TooLarge,
	}
)

// label makes the label of sets of reasons, and "other".
func label(key string, first []string, sets ...[]reason.Reason) Label {
	values := first
	for _, set := range sets {
		for _, r := range set {
			values = append(values, r.String())
		}
	}
	return Label{key, append(values, Other)}
}

// The names, for the code that makes the instruments.
const (
	nameFreshness    = "rollcall.refresh.freshness"
	nameDuration     = "rollcall.refresh.duration"
	nameOutcomes     = "rollcall.outcomes"
	nameBacklog      = "rollcall.backlog"
	namePushes       = "rollcall.pushes"
	nameRefusals     = "rollcall.budget.refusals"
	nameRedeliveries = "rollcall.redeliveries"
	nameCoalesced    = "rollcall.coalesced"
	nameParks        = "rollcall.parks"
	nameDeadLetters  = "rollcall.dead_letters"
	nameAcks         = "rollcall.acks"
	nameNacks        = "rollcall.nacks"
	nameAlerts       = "rollcall.alerts"
	nameResubscribed = "rollcall.broker.resubscriptions"
	nameAcksDropped  = "rollcall.broker.acks_dropped"
	nameBatched      = "rollcall.broker.batched_messages"
	nameHeartbeat    = "rollcall.broker.heartbeat"
)

// Catalog is the table of all instruments.
func Catalog() []Instrument {
	return slices.Concat(refreshes(), loads(), calls(), adapting(), messages(), broker(), subscribed(), depending(), trailing(), reporting(), keeping(), mending(), counting(), drawing(), makingWays(), shadowing(), serving(), telling())
}

// refreshes are about codes: how fresh, how they end, how many wait.
func refreshes() []Instrument {
	return []Instrument{
		{
			Name: nameFreshness, Prometheus: "rollcall_refresh_freshness_seconds", Kind: Histogram, Unit: "s",
			Labels:  []Label{lanes, throttled},
			Buckets: []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600},
			What:    "From the earliest event that a push covers, as published, to WeCom's confirmation of the list.",
			Action:  "This is the promise to the business. Fast and unthrottled above 5 s at p99: see rollcall.refresh.duration for slow parts and rollcall.backlog for too few workers. Throttled: the tenant wants more than WeCom allows; see rollcall.budget.refusals.",
		},
		{
			Name: nameDuration, Prometheus: "rollcall_refresh_duration_seconds", Kind: Histogram, Unit: "s",
			Labels:  []Label{endings},
			Buckets: []float64{0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
			What:    "How long a worker was busy with one code, reads and the vendor's call included, waits in a hold not.",
			Action:  "Rising for every outcome: MongoDB or Redis is slow. Rising for done only: WeCom is slow.",
		},
		{
			Name: nameOutcomes, Prometheus: "rollcall_outcomes_total", Kind: Counter, Unit: "{refresh}",
			Labels: []Label{endings, label("reason", nil, successes, waits, failures)},
			What:   "How refreshes ended, and why. hold with reason paced is no refresh: a code that ran often just now pauses before the next.",
			Action: "fail, or a growing share of hold with reason store_down: look at /readyz. panicked is a bug: report it with the log. nobody_left: a code cannot take customers; `rollcall explain` says why.",
		},
		{
			Name: nameBacklog, Prometheus: "rollcall_backlog", Kind: UpDownCounter, Unit: "{code}",
			Labels: []Label{states, label("cause", []string{None}, waits, []reason.Reason{reason.Panicked})},
			What:   "Codes in this process now: waiting for a worker (runnable), worked on (in_flight), or held until a deadline, by cause. cause is none unless held.",
			Action: "runnable above zero for minutes: add workers or instances. held is no reason to scale: those codes wait for WeCom or for their lane. held near ROLLCALL_REFRESHER_MAX_HELD: codes overflow into the dirty set.",
		},
	}
}

// calls are about the vendor and its budget.
func calls() []Instrument {
	return []Instrument{
		{
			Name: namePushes, Prometheus: "rollcall_pushes_total", Kind: Counter, Unit: "{push}",
			Labels: []Label{answers, label("class", []string{None}, failures, []reason.Reason{reason.Throttled})},
			What:   "Calls that replace a list at WeCom: applied, refused, or sent without a trustworthy answer (unknown), with the class of the error.",
			Action: "class throttled means that WeCom refused for frequency (45009) or concurrency (45033): other software calls with the same corp or address, or the limits in ROLLCALL_BUDGET_* are too high. credentials: a tenant's secret is wrong or its app was disabled.",
		},
		{
			Name: nameRefusals, Prometheus: "rollcall_budget_refusals_total", Kind: Counter, Unit: "{refusal}",
			Labels: []Label{label("cause", nil, []reason.Reason{reason.Throttled, reason.Blocked, reason.BreakerOpen, reason.StoreDown})},
			What:   "Pushes that had to wait, because of our own pace (throttled), a block after 45009 (blocked), a vendor in trouble (breaker_open), or because nobody could be asked (store_down).",
			Action: "throttled is normal in a storm. blocked must stay at zero: see rollcall.pushes. store_down: Redis is gone and each instance paces itself.",
		},
		{
			Name: nameAlerts, Prometheus: "rollcall_alerts_total", Kind: Counter, Unit: "{alert}",
			Labels: []Label{alertKinds, alertFates},
			What:   "Alerts for a person, by what they are about: sent to the group robot, logged because none is configured, merged into another, left to another instance, dropped because too many wait, or failed.",
			Action: "docs/signals.md says what each kind means. failed: the robot's URL is wrong or WeCom is not reachable; the alert is in the log.",
		},
	}
}

// messages are about what becomes of events besides being worked on.
func messages() []Instrument {
	return []Instrument{
		{
			Name: nameRedeliveries, Prometheus: "rollcall_redeliveries_total", Kind: Counter, Unit: "{message}",
			What:   "Messages that came again.",
			Action: "About one for each hold is right. Many more than holds: consumers come and go, or acknowledgements are lost; see the broker's log.",
		},
		{
			Name: nameCoalesced, Prometheus: "rollcall_coalesced_total", Kind: Counter, Unit: "{message}",
			What:   "Messages acknowledged because a newer one of the same code took their place.",
			Action: "Nothing: each of these is a call saved.",
		},
		{
			Name: nameAcks, Prometheus: "rollcall_acks_total", Kind: Counter, Unit: "{message}",
			Labels: []Label{label("reason", nil, []reason.Reason{reason.Pushed, reason.Unchanged, reason.Coalesced, reason.Deleted, reason.Shadowed, reason.Wayless}, waits, failures, empties, poisons)},
			What:   "Messages acknowledged, by what they ended with: a refresh, a newer message of the same code, a park or a dead letter.",
			Action: "Nothing by itself. A log line of the same reason, at level debug, names each message.",
		},
		{
			Name: nameNacks, Prometheus: "rollcall_nacks_total", Kind: Counter, Unit: "{message}",
			Labels: []Label{label("reason", nil, waits, failures, poisons)},
			What:   "Messages given back to the broker, which delivers them again: the cause of a hold whose time has come, handed_back when another consumer joined, or the cause of a dead letter that could not be stored yet.",
			Action: "handed_back all the time: instances come and go. The cause of a dead letter: the dead-letter topic cannot be written.",
		},
		{
			Name: nameParks, Prometheus: "rollcall_parks_total", Kind: Counter, Unit: "{code}",
			Labels: []Label{label("reason", nil, waits, failures, empties)},
			What:   "Codes put into the dirty set, by reason. The keeper brings them back when they are due.",
			Action: "overflow: a storm larger than ROLLCALL_REFRESHER_MAX_HELD, or a tenant that wants more than its hour allows. Failures: `rollcall dirty list` names the codes.",
		},
		{
			Name: nameDeadLetters, Prometheus: "rollcall_dead_letters_total", Kind: Counter, Unit: "{message}",
			Labels: []Label{label("cause", nil, poisons)},
			What:   "Messages that nobody can act on, put into the dead-letter topic.",
			Action: "Must stay at zero. The message's properties name the cause and the producer; correct the producer and publish again.",
		},
	}
}

// broker are about the connection to the broker. Each process reads them off
// its subscription.
func broker() []Instrument {
	return []Instrument{
		{
			Name: nameResubscribed, Prometheus: "rollcall_broker_resubscriptions_total", Kind: Observed, Unit: "{consumer}",
			What:   "Consumers that had to be replaced because the client gave up on them.",
			Action: "A few at a broker's failover are right. All the time: see the broker's log for why it closes the consumer.",
		},
		{
			Name: nameAcksDropped, Prometheus: "rollcall_broker_acks_dropped_total", Kind: Observed, Unit: "{message}",
			What:   "Acknowledgements given up because the broker did not confirm them. Each means a redelivery, which is harmless.",
			Action: "Rising: the broker or its storage is in trouble; see /readyz and the broker's log.",
		},
		{
			Name: nameBatched, Prometheus: "rollcall_broker_batched_messages_total", Kind: Observed, Unit: "{message}",
			What:   "Messages that came in a batch: some of their keys are at the wrong consumer.",
			Action: "Must stay at zero. A producer does not keep to docs/events.md; the log names the first one.",
		},
		{
			Name: nameHeartbeat, Prometheus: "rollcall_broker_heartbeat_seconds", Kind: Histogram, Unit: "s",
			Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60},
			What:    "How long a heartbeat of the keeper was on its way from the broker to this refresher: what an event would have met, without anything of ours.",
			Action:  "p99 above 1 s: the broker is slow, or keys are moving between refreshers. None arrives at any refresher: no keeper works, or the topic is not read; compare rollcall.keeper.sweep with sweep heartbeat.",
		},
	}
}
