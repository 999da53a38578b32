package main

// Heights that fit their kind.
const (
	tall  = 8
	small = 4
)

// Colors that mean the same on every panel.
const (
	good    = "green"
	waiting = "yellow"
	putOff  = "orange"
	bad     = "red"
	calm    = "blue"
)

// overview answers an SRE's questions in the order in which they come up.
func overview() dashboard {
	return dashboard{
		uid:         "rollcall",
		title:       "Rollcall",
		description: "Is it fresh? Is it stuck? Whose is it? Why? How long until it is drained? The runbooks are in docs/runbooks.",
		links:       []string{"rollcall-budget"},
		rows: []row{
			glance(), fresh(), stuck(), whose(), why(), drained(), consumers(), keepers(), backstop(), stores(), edges(), processes(),
		},
	}
}

func glance() row {
	return row{"At a glance", []panel{
		{
			kind: list, title: "What is firing?", width: 8, height: 6, none: "Nothing fires",
			good:    "Nothing. Of several, the page of docs/runbooks/README.md says which explains which.",
			queries: []query{{`max by (severity, alertname, namespace) (ALERTS{alertstate="firing",alertname=~"Rollcall.+",NS})`, ""}},
		},
		{
			kind: number, title: "Pushed within 5 s", width: 4, height: 6, unit: "percentunit", none: "no pushes",
			good:    "99 % or more of the fast, unthrottled pushes of the time shown.",
			runbook: "RollcallFreshnessBurnFast",
			steps:   []step{{0, bad}, {0.99, good}},
			queries: []query{{`sum(increase(rollcall_refresh_freshness_seconds_bucket{SEL,lane="fast",throttled="false",le=~"5(\\.0)?"}[$__range])) / sum(increase(rollcall_refresh_freshness_seconds_count{SEL,lane="fast",throttled="false"}[$__range]))`, ""}},
		},
		{
			kind: number, title: "Error budget left, 30 days", width: 4, height: 6, unit: "percentunit", none: "no pushes",
			good:    "Above a quarter. The budget is 1 % of the pushes of 30 days; below zero the objective is missed.",
			runbook: "RollcallFreshnessBurnSlow",
			steps:   []step{{-100, bad}, {0, putOff}, {0.25, good}},
			queries: []query{{`1 - (sum(sum_over_time(namespace:rollcall_fresh_late:rate5m{NS}[30d])) / sum(sum_over_time(namespace:rollcall_fresh_promised:rate5m{NS}[30d]))) / 0.01`, ""}},
		},
		{
			kind: number, title: "Burn, last hour", width: 4, height: 6, unit: "suffix:×", none: "no pushes",
			good:    "Below 1: at that pace the budget lasts the 30 days. 14.4 pages.",
			runbook: "RollcallFreshnessBurnFast",
			steps:   []step{{0, good}, {1, putOff}, {14.4, bad}},
			queries: []query{{`max(namespace:rollcall_fresh_late:ratio_rate1h{NS}) / 0.01`, ""}},
		},
		{
			kind: number, title: "Who is there?", width: 4, height: 6,
			good:    "As many of each as you run; two keepers at least, of which one works (see the row Keeper).",
			runbook: "RollcallRefreshersDown",
			queries: []query{{`count by (service_name) (target_info{SEL,service_namespace="rollcall"})`, "{{service_name}}"}},
		},
	}}
}

func fresh() row {
	return row{"Is it fresh?", []panel{
		{
			kind: series, title: "How long from the event to WeCom?", width: 10, height: tall, unit: "s",
			good:    "p99 below 5 s, p50 far below 1 s: fast lane, not held up by a throttle. This is the promise to the business.",
			runbook: "RollcallFreshnessBurnFast",
			steps:   []step{{5, bad}},
			queries: quantiles(`sum by (le) (rate(rollcall_refresh_freshness_seconds_bucket{SEL,lane="fast",throttled="false"}[$__rate_interval]))`, 0.5, 0.95, 0.99),
		},
		{
			kind: series, title: "What share is late?", width: 7, height: tall, unit: "percentunit",
			good:    "Below 1 %, the dashed line. 14.4 % in the hour and in five minutes pages; the short window says whether it is over.",
			runbook: "RollcallFreshnessBurnFast",
			steps:   []step{{0.01, putOff}, {0.144, bad}},
			queries: []query{
				{`max(namespace:rollcall_fresh_late:ratio_rate5m{NS})`, "5 minutes"},
				{`max(namespace:rollcall_fresh_late:ratio_rate1h{NS})`, "1 hour"},
				{`max(namespace:rollcall_fresh_late:ratio_rate6h{NS})`, "6 hours"},
			},
		},
		{
			kind: series, title: "And what had to wait its turn? (p95)", width: 7, height: tall, unit: "s",
			good: "Throttled: as long as the tenant's storm, at its pace. Slow lane: its interval. Neither counts against the objective; both are on the dashboard rollcall-budget.",
			queries: []query{
				{`histogram_quantile(0.95, sum by (le) (rate(rollcall_refresh_freshness_seconds_bucket{SEL,lane="fast",throttled="true"}[$__rate_interval])))`, "throttled"},
				{`histogram_quantile(0.95, sum by (le) (rate(rollcall_refresh_freshness_seconds_bucket{SEL,lane="slow"}[$__rate_interval])))`, "slow lane"},
			},
		},
	}}
}

func stuck() row {
	return row{"Is it stuck?", []panel{
		{
			kind: series, title: "Does work get done?", width: 8, height: tall, unit: "ops", stacked: true,
			good:    "Refreshes a second. done all the time when there is anything in hand. hold is a wait for WeCom or for the code's pace; park goes to the dirty set; fail is a store that does not answer, or a bug.",
			runbook: "RollcallStuck",
			colors:  map[string]string{"done": good, "hold": waiting, "park": putOff, "fail": bad},
			queries: []query{{`sum by (outcome) (rate(rollcall_outcomes_total{SEL}[$__rate_interval]))`, "{{outcome}}"}},
		},
		{
			kind: series, title: "What is in the refreshers' hands?", width: 8, height: tall, unit: "short", stacked: true,
			good:    "In line near zero: nothing holds these codes back but workers. Held may be anything: those wait for a reason (see Why?).",
			runbook: "RollcallRefreshersFull",
			colors:  map[string]string{"in line": putOff, "in work": good, "held": waiting},
			queries: []query{
				{`sum(rollcall_backlog{SEL,state="held"})`, "held"},
				{`sum(rollcall_backlog{SEL,state="in_flight"})`, "in work"},
				{`sum(rollcall_backlog{SEL,state="runnable"})`, "in line"},
			},
		},
		{
			kind: series, title: "What does the broker have?", width: 8, height: tall, unit: "short",
			good:    "Un-acked about as many as the refreshers hold. Not handed out near zero: messages there while no work gets done are a stall, and no throttle explains them.",
			runbook: "RollcallStuck",
			colors:  map[string]string{"un-acked": waiting, "not handed out": bad, "held by the refreshers": calm, "will come again": "purple"},
			queries: []query{
				{`sum(rollcall_subscription_unacked{SEL})`, "un-acked"},
				{`clamp_min(sum(rollcall_subscription_backlog{SEL}) - sum(rollcall_subscription_unacked{SEL}), 0)`, "not handed out"},
				{`sum(rollcall_backlog{SEL})`, "held by the refreshers"},
				{`sum(rollcall_subscription_in_replay{SEL})`, "will come again"},
			},
		},
		{
			kind: series, title: "How old is the oldest message?", width: 8, height: tall, unit: "s",
			good:    "Below ROLLCALL_REFRESHER_PARK_AFTER (2 min) and a hold (15 s). A line that climbs as fast as the clock is a message that nobody works on.",
			runbook: "RollcallConsumerStuck",
			steps:   []step{{135, putOff}},
			queries: []query{{`max(rollcall_subscription_oldest_seconds{SEL})`, "oldest, not acknowledged"}},
		},
		{
			kind: series, title: "Does the broker deliver?", width: 8, height: tall, unit: "s",
			good:    "p99 of a heartbeat below 1 s. No line at all while a keeper works: nothing comes through.",
			runbook: "RollcallBrokerDown",
			steps:   []step{{1, putOff}},
			queries: quantiles(`sum by (le) (rate(rollcall_broker_heartbeat_seconds_bucket{SEL}[$__rate_interval]))`, 0.5, 0.99),
		},
		{
			kind: series, title: "Are there workers and room enough?", width: 8, height: tall, unit: "percentunit",
			good:    "Below 70 %, where the autoscaler adds instances. Above 100 % there is work for more of them, unless they are slow because a store or WeCom is. Codes beyond 75 % of the room overflow into the dirty set.",
			runbook: "RollcallRefreshersFull",
			steps:   []step{{0.7, putOff}, {1, bad}},
			queries: []query{
				{`avg(rollcall_refresher_load{SEL})`, "average"},
				{`max(rollcall_refresher_load{SEL})`, "busiest"},
				{`max(sum by (namespace, job, instance) (rollcall_backlog{SEL}) / on (namespace, job, instance) max by (namespace, job, instance) (rollcall_backlog_limit{SEL}))`, "codes, of those one may have"},
			},
		},
	}}
}

func whose() row {
	return row{"Whose is it?", []panel{
		{
			kind: bars, title: "How many codes wait for each of the ten largest tenants?", width: 12, height: 9, unit: "short", none: "nobody waits",
			good:    "No figure is wrong by itself: the first far above the others is one tenant's storm, which does not hold up the others; all of them high have a cause in common. Ranks are each refresher's own and the largest is shown. Who they are is no label: GET /backlog on a refresher's ops port.",
			queries: []query{{`sort_desc(max by (rank) (rollcall_backlog_top{SEL}))`, "rank {{rank}}"}},
		},
		{
			kind: series, title: "Is it one tenant's storm?", width: 12, height: 9, unit: "short",
			good: "The first rank climbs alone in a storm and falls at its tenant's pace. See RollcallHeldNearLimit when it stays.", runbook: "RollcallHeldNearLimit",
			queries: []query{
				{`max(rollcall_backlog_top{SEL,rank="01"})`, "largest"},
				{`max(rollcall_backlog_top{SEL,rank="02"})`, "second"},
				{`max(rollcall_backlog_top{SEL,rank="03"})`, "third"},
				{`max(rollcall_backlog_top{SEL,rank="10"})`, "tenth"},
			},
		},
	}}
}

func why() row {
	return row{"Why does it wait?", []panel{
		{
			kind: series, title: "What do held codes wait for?", width: 8, height: tall, unit: "short", stacked: true,
			good:    "throttled in a storm, paced and slow_lane at any time. blocked is WeCom's 45009; breaker_open and backoff are WeCom failing; suspended a tenant's secret; on_hold an operator; store_down MongoDB or Redis.",
			runbook: "RollcallTenantBlocked",
			colors:  map[string]string{"throttled": waiting, "blocked": bad, "store_down": "dark-red", "breaker_open": putOff},
			queries: []query{{`sum by (cause) (rollcall_backlog{SEL,state="held"}) > 0`, "{{cause}}"}},
		},
		{
			kind: series, title: "Which calls did WeCom not take?", width: 8, height: tall, unit: "ops",
			good:    "Nothing. transient: 5xx, no answer. throttled: 45009 or 45033. bad_member, credentials, gone: a tenant's own; the dirty set names the codes.",
			runbook: "RollcallVendorFailing",
			queries: []query{{`sum by (class) (rate(rollcall_pushes_total{SEL,outcome!="applied"}[$__rate_interval])) > 0`, "{{class}}"}},
		},
		{
			kind: series, title: "What goes into the dirty set?", width: 8, height: tall, unit: "ops",
			good:    "overflow and throttled in a storm. Anything else all the time is a failure that `rollcall dirty list --reason` names.",
			runbook: "RollcallDirtyGrowing",
			queries: []query{{`sum by (reason) (rate(rollcall_parks_total{SEL}[$__rate_interval])) > 0`, "{{reason}}"}},
		},
	}}
}

func drained() row {
	return row{"How long until it is drained?", []panel{
		{
			kind: number, title: "Refreshers and broker empty in", width: 5, height: tall, unit: "s", none: "nothing waits",
			good:    "Seconds. What is held, in line or not handed out, at the pace of the last five minutes. Endless: nothing gets done.",
			runbook: "RollcallStuck",
			steps:   []step{{0, good}, {300, putOff}, {3600, bad}},
			queries: []query{{`(sum(rollcall_backlog{SEL}) + (sum(namespace:rollcall_subscription_undelivered:sum{NS}) or vector(0))) / sum(rate(rollcall_outcomes_total{SEL,outcome="done"}[5m]))`, ""}},
		},
		{
			kind: number, title: "Dirty set empty in", width: 5, height: tall, unit: "s", none: "nothing leaves it",
			good:    "Minutes after a storm or an outage. Codes in the set, at the pace at which they left it in the last ten minutes.",
			runbook: "RollcallDirtyGrowing",
			steps:   []step{{0, good}, {3600, putOff}, {14400, bad}},
			queries: []query{{`sum(rollcall_dirty_codes{SEL}) / (sum(rate(rollcall_dirty_settled_total{SEL,result="agreed"}[10m])) > 0)`, ""}},
		},
		{
			kind: series, title: "Where do codes wait?", width: 14, height: tall, unit: "short", stacked: true,
			good:    "All three fall after a storm, the dirty set last. A hill that stays is not drained.",
			runbook: "RollcallDirtyGrowing",
			colors:  map[string]string{"in the refreshers": waiting, "at the broker": calm, "in the dirty set": putOff},
			queries: []query{
				{`sum(rollcall_backlog{SEL})`, "in the refreshers"},
				{`sum(namespace:rollcall_subscription_undelivered:sum{NS})`, "at the broker"},
				{`sum(rollcall_dirty_codes{SEL})`, "in the dirty set"},
			},
		},
		{
			kind: series, title: "What comes back from the dirty set?", width: 12, height: tall, unit: "ops",
			good:    "Codes a second that the keeper publishes, at most 39.5 a tenant at WeCom's limits. time_change follows shifts and midnights.",
			runbook: "RollcallDirtyGrowing",
			queries: []query{{`sum by (reason) (rate(rollcall_keeper_released_total{SEL}[$__rate_interval])) > 0`, "{{reason}}"}},
		},
		{
			kind: series, title: "How late do they come back?", width: 12, height: tall, unit: "s",
			good:    "Seconds; minutes after a midnight for a tenant with thousands of codes (docs/keeper.md has the arithmetic).",
			runbook: "RollcallNoKeeper",
			queries: quantiles(`sum by (le) (rate(rollcall_keeper_late_seconds_bucket{SEL}[$__rate_interval]))`, 0.5, 0.95),
		},
	}}
}

// quantiles are a line for each quantile of the buckets.
func quantiles(buckets string, of ...float64) []query {
	names := map[float64]string{0.5: "p50", 0.95: "p95", 0.99: "p99"}
	numbers := map[float64]string{0.5: "0.5", 0.95: "0.95", 0.99: "0.99"}
	out := make([]query, len(of))
	for i, q := range of {
		out[i] = query{"histogram_quantile(" + numbers[q] + ", " + buckets + ")", names[q]}
	}
	return out
}
