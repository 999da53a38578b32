package main

// budget is about the one thing that cannot be had more of: WeCom's calls.
func budget() dashboard {
	return dashboard{
		uid:         "rollcall-budget",
		title:       "Rollcall: vendor budget",
		description: "How much of what WeCom allows is used, why pushes wait, and whether a call is well spent. docs/quota.md and docs/design.md (section 6) have the arithmetic.",
		links:       []string{"rollcall"},
		rows:        []row{allowed(), refusals(), spent(), lanes(), answers()},
	}
}

func allowed() row {
	const calls = `sum by (op) (increase(rollcall_wecom_call_duration_seconds_count{SEL}[1h]))`
	return row{"How much of what WeCom allows is used?", []panel{
		{
			kind: number, title: "Of the address's minute", width: 4, height: tall, unit: "percentunit", none: "no calls",
			good:    "Below 80 %: updates of the last minute over what WeCom allows one address. With several addresses the figure is their sum.",
			runbook: "RollcallTenantBlocked", steps: []step{{0, good}, {0.8, putOff}, {0.95, bad}},
			queries: []query{{`sum(rate(rollcall_pushes_total{SEL}[$__rate_interval])) * 60 / max(rollcall_budget_limit{SEL,scope="ip",window="minute"})`, ""}},
		},
		{
			kind: number, title: "Of the address's hour", width: 4, height: tall, unit: "percentunit", none: "no calls",
			good:    "Below 80 %. Near it for hours is the moment for a second egress address (ROLLCALL_WECOM_EGRESS).",
			runbook: "RollcallTenantBlocked", steps: []step{{0, good}, {0.8, putOff}, {0.95, bad}},
			queries: []query{{`sum(increase(rollcall_pushes_total{SEL}[1h])) / max(rollcall_budget_limit{SEL,scope="ip",window="hour"})`, ""}},
		},
		{
			kind: series, title: "Pushes a minute, against the limits", width: 8, height: tall, unit: "short",
			good:    "Below a tenant's limit unless several are busy, and always below the address's. What one tenant may push in the long run is its hour's limit, by 60.",
			runbook: "RollcallTenantBlocked",
			colors:  map[string]string{"pushes": calm, "a tenant may": waiting, "an address may": bad},
			queries: []query{
				{`sum(rate(rollcall_pushes_total{SEL}[$__rate_interval])) * 60`, "pushes"},
				{`max(rollcall_budget_limit{SEL,scope="tenant",window="minute"})`, "a tenant may"},
				{`max(rollcall_budget_limit{SEL,scope="ip",window="minute"})`, "an address may"},
			},
		},
		{
			kind: series, title: "Calls an hour, by API", width: 8, height: tall, unit: "short",
			good:    "update_contact_way above all others; each API has limits of its own. gettoken near zero: two hours a token.",
			queries: []query{{calls, "{{op}}"}},
		},
	}}
}

func refusals() row {
	return row{"Why do pushes wait?", []panel{
		{
			kind: number, title: "45009, in the time shown", width: 4, height: small, unit: "short", none: "none",
			good:    "None. WeCom blocked an API for a minute or an hour; Rollcall alone stays below its limits.",
			runbook: "RollcallTenantBlocked", steps: []step{{0, good}, {1, bad}},
			queries: []query{{`ceil(sum(increase(rollcall_budget_throttled_answers_total{SEL,errcode="45009"}[$__range]))) or vector(0)`, ""}},
		},
		{
			kind: number, title: "Held for a throttle", width: 4, height: small, unit: "short",
			good:    "Any number in a storm: these codes have a slot and go at it.",
			queries: []query{{`sum(rollcall_backlog{SEL,state="held",cause="throttled"})`, ""}},
		},
		{
			kind: number, title: "Held for a block", width: 4, height: small, unit: "short",
			good:    "None.",
			runbook: "RollcallTenantBlocked", steps: []step{{0, good}, {1, bad}},
			queries: []query{{`sum(rollcall_backlog{SEL,state="held",cause="blocked"})`, ""}},
		},
		{
			kind: number, title: "Without Redis", width: 4, height: small, unit: "short", none: "none",
			good:    "No process. One that cannot ask Redis keeps to its share of the rate (ROLLCALL_BUDGET_INSTANCES).",
			runbook: "RollcallStoreDown", steps: []step{{0, good}, {1, bad}},
			queries: []query{{`sum(rollcall_budget_degraded{SEL}) or vector(0)`, ""}},
		},
		{
			kind: number, title: "Beyond all slots, a second", width: 8, height: small, unit: "ops", none: "none",
			good:    "None for long: a tenant wants more than its hour allows, and its codes go to the dirty set.",
			runbook: "RollcallHeldNearLimit", steps: []step{{0, good}, {1, putOff}},
			queries: []query{{`sum(rate(rollcall_budget_admissions_total{SEL,result="beyond"}[$__rate_interval]))`, ""}},
		},
		{
			kind: series, title: "What does the budget answer?", width: 8, height: tall, unit: "ops", stacked: true,
			good:    "granted. booked in a storm: a slot within two minutes. beyond: the line is longer than that.",
			runbook: "RollcallHeldNearLimit",
			colors:  map[string]string{"granted": good, "booked": waiting, "beyond": bad},
			queries: []query{{`sum by (result) (rate(rollcall_budget_admissions_total{SEL}[$__rate_interval]))`, "{{result}}"}},
		},
		{
			kind: series, title: "What are pushes refused for?", width: 8, height: tall, unit: "ops",
			good:    "throttled in a storm. blocked must stay at zero; breaker_open is WeCom failing; store_down is Redis.",
			runbook: "RollcallTenantBlocked",
			colors:  map[string]string{"throttled": waiting, "blocked": bad, "breaker_open": putOff, "store_down": "dark-red"},
			queries: []query{{`sum by (cause) (rate(rollcall_budget_refusals_total{SEL}[$__rate_interval])) > 0`, "{{cause}}"}},
		},
		{
			kind: series, title: "What does WeCom refuse for frequency or concurrency?", width: 8, height: tall, unit: "short",
			good:    "Nothing. 45033: too many calls of a tenant at once; Rollcall lowers them by itself.",
			runbook: "RollcallTenantBlocked",
			colors:  map[string]string{"45009": bad, "45033": waiting},
			queries: []query{{`sum by (errcode) (increase(rollcall_budget_throttled_answers_total{SEL}[$__rate_interval]))`, "{{errcode}}"}},
		},
	}}
}

func spent() row {
	const pushed = `sum(rate(rollcall_outcomes_total{SEL,outcome="done",reason="pushed"}[5m]))`
	return row{"Is a call well spent?", []panel{
		{
			kind: series, title: "Pushes per change", width: 8, height: tall, unit: "none",
			good:    "1 to 1.1: calls for each list that got to WeCom. More: calls without an answer that are made again, or probes for a bad member.",
			steps:   []step{{1.5, putOff}},
			queries: []query{{`sum(rate(rollcall_pushes_total{SEL}[5m])) / (` + pushed + ` > 0)`, "calls for each change"}},
		},
		{
			kind: series, title: "Events per push", width: 8, height: tall, unit: "none",
			good:    "1 when calm, many in a storm: what is merged is calls saved.",
			queries: []query{{`sum(rate(rollcall_acks_total{SEL,reason=~"pushed|coalesced"}[5m])) / (` + pushed + ` > 0)`, "events for each change"}},
		},
		{
			kind: series, title: "Redeliveries per push", width: 8, height: tall, unit: "none",
			good:    "Below 1 when calm, about 1 for each hold in a storm. Far above: refreshers come and go, or acks are lost.",
			queries: []query{{`sum(rate(rollcall_redeliveries_total{SEL}[5m])) / (` + pushed + ` > 0)`, "messages that came again"}},
		},
		{
			kind: series, title: "What did events end with?", width: 12, height: tall, unit: "ops", stacked: true,
			good:    "pushed, unchanged and coalesced. All else is named in docs/signals.md.",
			colors:  map[string]string{"pushed": good, "unchanged": calm, "coalesced": "purple"},
			queries: []query{{`sum by (reason) (rate(rollcall_acks_total{SEL}[$__rate_interval])) > 0`, "{{reason}}"}},
		},
		{
			kind: series, title: "Is there budget to spare for the spot check?", width: 12, height: tall, unit: "ops",
			good:    "granted most of the time. Never for hours: nothing of what WeCom holds is looked at.",
			runbook: "RollcallDivergence",
			colors:  map[string]string{"granted": good, "not granted": waiting},
			queries: []query{
				{`sum(rate(rollcall_budget_spare_total{SEL,granted="true"}[$__rate_interval]))`, "granted"},
				{`sum(rate(rollcall_budget_spare_total{SEL,granted="false"}[$__rate_interval]))`, "not granted"},
			},
		},
	}}
}

func lanes() row {
	const fresh = `rollcall_refresh_freshness_seconds`
	return row{"Which lane?", []panel{
		{
			kind: series, title: "How many pushes in each lane?", width: 12, height: tall, unit: "ops", stacked: true,
			good:   "fast, not throttled. throttled: tenants beyond their pace. slow: codes that were put off to save budget.",
			colors: map[string]string{"fast": good, "fast, throttled": waiting, "slow": calm},
			queries: []query{
				{`sum(rate(` + fresh + `_count{SEL,lane="fast",throttled="false"}[$__rate_interval]))`, "fast"},
				{`sum(rate(` + fresh + `_count{SEL,lane="fast",throttled="true"}[$__rate_interval]))`, "fast, throttled"},
				{`sum(rate(` + fresh + `_count{SEL,lane="slow"}[$__rate_interval]))`, "slow"},
			},
		},
		{
			kind: series, title: "How fresh is each lane? (p95)", width: 12, height: tall, unit: "s",
			good:    "fast below 5 s. throttled: as long as its tenant's line. slow: its interval.",
			runbook: "RollcallFreshnessBurnFast",
			colors:  map[string]string{"fast": good, "fast, throttled": waiting, "slow": calm},
			queries: []query{
				{`histogram_quantile(0.95, sum by (le) (rate(` + fresh + `_bucket{SEL,lane="fast",throttled="false"}[$__rate_interval])))`, "fast"},
				{`histogram_quantile(0.95, sum by (le) (rate(` + fresh + `_bucket{SEL,lane="fast",throttled="true"}[$__rate_interval])))`, "fast, throttled"},
				{`histogram_quantile(0.95, sum by (le) (rate(` + fresh + `_bucket{SEL,lane="slow"}[$__rate_interval])))`, "slow"},
			},
		},
	}}
}

func answers() row {
	return row{"What does WeCom answer?", []panel{
		{
			kind: series, title: "What became of pushes?", width: 8, height: tall, unit: "ops", stacked: true,
			good:    "applied. unknown: sent, and no answer that can be trusted; the code is pushed once more.",
			runbook: "RollcallVendorFailing",
			colors:  map[string]string{"applied": good, "refused": putOff, "unknown": bad},
			queries: []query{{`sum by (outcome) (rate(rollcall_pushes_total{SEL}[$__rate_interval]))`, "{{outcome}}"}},
		},
		{
			kind: series, title: "How long does an update take?", width: 8, height: tall, unit: "s",
			good:    "p95 below half a second. A tenant's calls in flight (8) by this time bound its pace.",
			runbook: "RollcallVendorFailing",
			queries: quantiles(`sum by (le) (rate(rollcall_wecom_call_duration_seconds_bucket{SEL,op="update_contact_way"}[$__rate_interval]))`, 0.5, 0.95, 0.99),
		},
		{
			kind: series, title: "Do the breakers open?", width: 8, height: tall, unit: "short",
			good:    "No. vendor: WeCom fails for all. tenant: WeCom fails for one, or refuses its credentials.",
			runbook: "RollcallVendorFailing",
			queries: []query{{`sum by (scope, state) (increase(rollcall_wecom_breaker_transitions_total{SEL,state="open"}[$__rate_interval]))`, "{{scope}} {{state}}"}},
		},
	}}
}
