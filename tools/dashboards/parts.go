package main

// The rows about the parts, for when the questions above have led to one.

func consumers() row {
	return row{"Refreshers and the broker", []panel{
		{
			kind: series, title: "Who consumes?", width: 8, height: tall, unit: "short",
			good:    "As many consumers as refreshers run, none blocked. Hashes drain for a moment when a refresher joins or leaves, at most a hold (15 s).",
			runbook: "RollcallConsumerBlocked",
			colors:  map[string]string{"consumers": good, "refreshers": calm, "blocked": bad, "draining hashes": waiting},
			queries: []query{
				{`count(rollcall_backlog{SEL,state="runnable"})`, "refreshers"},
				{`max(rollcall_subscription_consumers{SEL})`, "consumers"},
				{`max(rollcall_subscription_blocked_consumers{SEL})`, "blocked"},
				{`max(rollcall_subscription_draining_hashes{SEL})`, "draining hashes"},
			},
		},
		{
			kind: series, title: "What goes back to the broker?", width: 8, height: tall, unit: "ops",
			good: "About one for each hold. handed_back all the time: refreshers come and go.",
			queries: []query{
				{`sum by (reason) (rate(rollcall_nacks_total{SEL}[$__rate_interval])) > 0`, "{{reason}}"},
				{`sum(rate(rollcall_redeliveries_total{SEL}[$__rate_interval]))`, "came again"},
			},
		},
		{
			kind: series, title: "Is the way to the broker in trouble?", width: 8, height: tall, unit: "short",
			good:    "Nothing, but for a broker's failover. In batches must stay at zero: a producer does not keep to docs/events.md.",
			runbook: "RollcallProducerBatches",
			queries: []query{
				{`sum(increase(rollcall_broker_resubscriptions_total{SEL}[$__rate_interval]))`, "consumers replaced"},
				{`sum(increase(rollcall_broker_acks_dropped_total{SEL}[$__rate_interval]))`, "acks given up"},
				{`sum(increase(rollcall_broker_batched_messages_total{SEL}[$__rate_interval]))`, "in batches"},
				{`sum(increase(pulsar_client_connections_establishment_errors{SEL}[$__rate_interval]))`, "connections refused"},
			},
		},
	}}
}

func keepers() row {
	return row{"Keeper", []panel{
		{
			kind: series, title: "Does a keeper work?", width: 8, height: tall, unit: "short",
			good:    "One at work, the others stand by. None: nothing comes back and time changes no list.",
			runbook: "RollcallNoKeeper",
			colors:  map[string]string{"at work": good, "there": calm},
			queries: []query{
				{`sum(rollcall_keeper_lease{SEL})`, "at work"},
				{`count(rollcall_keeper_lease{SEL})`, "there"},
			},
		},
		{
			kind: series, title: "How long do its sweeps take? (p95)", width: 8, height: tall, unit: "s",
			good:    "release below 1 s: else codes come back more slowly than their tenants' pace.",
			runbook: "RollcallDirtyGrowing",
			steps:   []step{{1, putOff}},
			queries: []query{{`histogram_quantile(0.95, sum by (sweep, le) (rate(rollcall_keeper_sweep_seconds_bucket{SEL,sweep=~"release|settle|intents|census|heartbeat|notify"}[$__rate_interval])))`, "{{sweep}}"}},
		},
		{
			kind: number, title: "Takeovers, in the time shown", width: 8, height: tall, unit: "short", none: "none",
			good:    "One for each keeper that was restarted. More: keepers do not reach MongoDB in time, or lack CPU.",
			runbook: "RollcallNoKeeper",
			queries: []query{{`ceil(sum(increase(rollcall_keeper_takeovers_total{SEL}[$__range])))`, ""}},
		},
	}}
}

func backstop() row {
	return row{"Dirty set and audit", []panel{
		{
			kind: series, title: "What became of dirty codes that were looked at?", width: 12, height: tall, unit: "ops",
			good:    "agreed: they leave the set. repeated at the pace of agreed: refreshes end without what the facts ask for.",
			runbook: "RollcallDirtyOld",
			colors:  map[string]string{"agreed": good, "waiting": waiting, "repeated": putOff},
			queries: []query{{`sum by (result) (rate(rollcall_dirty_settled_total{SEL}[$__rate_interval]))`, "{{result}}"}},
		},
		{
			kind: series, title: "What is dirty, and why?", width: 12, height: tall, unit: "short", stacked: true,
			good:    "Nothing, or waits (throttled, overflow) that fall. Failures that stay need a person.",
			runbook: "RollcallDirtyGrowing",
			queries: []query{{`sum by (reason) (rollcall_dirty_codes{SEL}) > 0`, "{{reason}}"}},
		},
		{
			kind: series, title: "For how long?", width: 12, height: tall, unit: "s",
			good:    "Minutes. Hours for anything that is not a wait: nobody has dealt with it.",
			runbook: "RollcallDirtyOld",
			steps:   []step{{14400, putOff}},
			queries: []query{{`topk(6, max by (reason) (rollcall_dirty_oldest_seconds{SEL}))`, "{{reason}}"}},
		},
		{
			kind: series, title: "What does the audit find?", width: 12, height: tall, unit: "ops",
			good:    "waits only. stale in a storm, while codes stand in line for longer than ROLLCALL_AUDIT_BOUND. Anything else is an event that was lost or a store that lost something.",
			runbook: "RollcallDivergence",
			queries: []query{{`sum by (result) (rate(rollcall_audit_looks_total{SEL,result!~"agrees|shadowed"}[$__rate_interval])) > 0`, "{{result}}"}},
		},
		{
			kind: number, title: "Codes audited a second", width: 8, height: small, unit: "ops", none: "none",
			good:    "ROLLCALL_AUDIT_RATE (250) for each keeper during a pass, none between passes.",
			runbook: "RollcallAuditBehind",
			queries: []query{{`sum(rate(rollcall_audit_looks_total{SEL}[$__rate_interval]))`, ""}},
		},
		{
			kind: number, title: "A pass of the audit takes", width: 8, height: small, unit: "s", none: "none ended",
			good:    "How long a lost event can stay unnoticed: hours at most. The mean of the passes of the time shown.",
			runbook: "RollcallAuditBehind",
			steps:   []step{{0, good}, {28800, putOff}, {86400, bad}},
			queries: []query{{`sum(increase(rollcall_audit_pass_seconds_sum{SEL}[$__range])) / (sum(increase(rollcall_audit_pass_seconds_count{SEL}[$__range])) > 0)`, ""}},
		},
		{
			kind: number, title: "Dead letters that wait", width: 8, height: small, unit: "short", none: "not known",
			good:    "None. Each is a message that nobody can act on; `rollcall deadletters` shows them.",
			runbook: "RollcallDeadLetters",
			steps:   []step{{0, good}, {1, bad}},
			queries: []query{{`max(rollcall_dead_letters_waiting{SEL})`, ""}},
		},
	}}
}

func stores() row {
	return row{"MongoDB, Redis, WeCom", []panel{
		{
			kind: series, title: "How long does a refresh take? (p95)", width: 8, height: tall, unit: "s",
			good:    "Tens of milliseconds and WeCom's answer. Rising for every outcome: MongoDB or Redis is slow. For done only: WeCom is.",
			runbook: "RollcallFreshnessBurnFast",
			colors:  map[string]string{"done": good, "hold": waiting, "park": putOff, "fail": bad},
			queries: []query{{`histogram_quantile(0.95, sum by (outcome, le) (rate(rollcall_refresh_duration_seconds_bucket{SEL}[$__rate_interval])))`, "{{outcome}}"}},
		},
		{
			kind: series, title: "Is a store away?", width: 8, height: tall, unit: "short",
			good:    "Nothing. Failed refreshes: MongoDB, or Redis for codes with a landing page. Without Redis: processes that pace themselves by their own share.",
			runbook: "RollcallStoreDown",
			colors:  map[string]string{"failed refreshes a second": bad, "without Redis": putOff, "held for a store": waiting},
			queries: []query{
				{`sum(rate(rollcall_outcomes_total{SEL,outcome="fail"}[$__rate_interval]))`, "failed refreshes a second"},
				{`sum(rollcall_budget_degraded{SEL})`, "without Redis"},
				{`sum(rollcall_backlog{SEL,state="held",cause="store_down"})`, "held for a store"},
				{`sum by (dependency) (1 - rollcall_dependency_up{SEL})`, "processes without {{dependency}}"},
			},
		},
		{
			kind: series, title: "How long does WeCom take?", width: 8, height: tall, unit: "s",
			good:    "p95 of an update below half a second.",
			runbook: "RollcallVendorFailing",
			queries: quantiles(`sum by (le) (rate(rollcall_wecom_call_duration_seconds_bucket{SEL,op="update_contact_way"}[$__rate_interval]))`, 0.5, 0.95, 0.99),
		},
	}}
}

func edges() row {
	return row{"Callbacks, landing pages, API, notices", []panel{
		{
			kind: series, title: "What becomes of WeCom's callbacks?", width: 8, height: tall, unit: "ops", stacked: true,
			good:    "taken and ignored. failed or crowded: additions are lost after three attempts. forged or misdirect: a wrong token, or somebody tries.",
			runbook: "RollcallCallbacksFailing",
			colors:  map[string]string{"taken": good, "ignored": calm, "failed": bad, "crowded": putOff},
			queries: []query{{`sum by (fate) (rate(rollcall_callbacks_total{SEL}[$__rate_interval])) > 0`, "{{fate}}"}},
		},
		{
			kind: series, title: "How long do callbacks take?", width: 8, height: tall, unit: "s",
			good:    "p99 below 1 s; WeCom waits 5 s.",
			runbook: "RollcallCallbacksFailing",
			steps:   []step{{1, putOff}, {5, bad}},
			queries: quantiles(`sum by (le) (rate(rollcall_callback_duration_seconds_bucket{SEL}[$__rate_interval]))`, 0.5, 0.99),
		},
		{
			kind: series, title: "Whom do landing pages send where?", width: 8, height: tall, unit: "ops", stacked: true,
			good:    "drawn and repeated. unavailable or no_way: customers are turned away. nobody_free: a code has fewer members than customers.",
			runbook: "RollcallDrawsFailing",
			colors:  map[string]string{"drawn": good, "repeated": calm, "unavailable": bad, "nobody_free": waiting},
			queries: []query{{`sum by (ending) (rate(rollcall_draws_total{SEL}[$__rate_interval])) > 0`, "{{ending}}"}},
		},
		{
			kind: series, title: "What does the API answer?", width: 8, height: tall, unit: "reqps", stacked: true,
			good:    "2xx. 5xx: MongoDB, or the broker and the dirty set, are away. 4xx in numbers: a client lost its token or has a loop.",
			runbook: "RollcallAPIFailing",
			colors:  map[string]string{"2xx": good, "4xx": waiting, "5xx": bad},
			queries: []query{{`sum by (status) (rate(rollcall_api_requests_total{SEL}[$__rate_interval]))`, "{{status}}"}},
		},
		{
			kind: series, title: "How long do draws and requests take? (p99)", width: 8, height: tall, unit: "s",
			good:    "Draws below 25 ms, reads and writes below 1 s.",
			runbook: "RollcallAPIFailing",
			queries: []query{
				{`histogram_quantile(0.99, sum by (le) (rate(rollcall_draw_duration_seconds_bucket{SEL}[$__rate_interval])))`, "draw"},
				{`histogram_quantile(0.99, sum by (kind, le) (rate(rollcall_api_duration_seconds_bucket{SEL,kind=~"read|write"}[$__rate_interval])))`, "{{kind}}"},
			},
		},
		{
			kind: series, title: "Are the tenants' people told?", width: 8, height: tall, unit: "short",
			good:    "Held zero; the oldest below a minute or two. See also `rollcall deliveries list --state failed`.",
			runbook: "RollcallNotificationsLate",
			queries: []query{
				{`max(rollcall_deliveries_held{SEL})`, "held for a daily pool"},
				{`max(rollcall_deliveries_oldest_seconds{SEL}) / 60`, "oldest, in minutes"},
				{`sum(increase(rollcall_deliveries_total{SEL,state="failed"}[$__rate_interval]))`, "given up"},
			},
		},
	}}
}

func processes() row {
	const role = ` * on (job, instance) group_left (service_name) target_info{SEL,service_namespace="rollcall"})`
	return row{"Processes", []panel{
		{
			kind: series, title: "How much CPU? (busiest of each role)", width: 8, height: tall, unit: "short",
			good:    "Below the limit of its container; a keeper without CPU loses its lease.",
			queries: []query{{`max by (service_name) (rate(process_cpu_seconds_total{SEL}[$__rate_interval])` + role, "{{service_name}}"}},
		},
		{
			kind: series, title: "How much memory? (largest of each role)", width: 8, height: tall, unit: "bytes",
			good:    "A refresher at ROLLCALL_REFRESHER_MAX_HELD stays below 300 MiB (docs/overload.md).",
			queries: []query{{`max by (service_name) (process_resident_memory_bytes{SEL}` + role, "{{service_name}}"}},
		},
		{
			kind: series, title: "How many goroutines? (most of each role)", width: 8, height: tall, unit: "short",
			good:    "Flat. A line that only climbs is a leak; report it with a profile.",
			runbook: "RollcallPanics",
			queries: []query{{`max by (service_name) (go_goroutines{SEL}` + role, "{{service_name}}"}},
		},
	}}
}
