package metrics

import "github.com/rollcall-dev/rollcall/internal/reason"

// adapting are the instruments that the adapters make themselves, since they may
// not know this package: those of the vendor's budget in Redis and of the
// vendor's API. The adapters' tests hold them against this list.
func adapting() []Instrument {
	return []Instrument{
		{
			Name: "rollcall.budget.admissions", Prometheus: "rollcall_budget_admissions_total", Kind: Counter, Unit: "{ask}",
			Labels: []Label{
				{"result", []string{"granted", "booked", "beyond"}},
				label("cause", []string{None}, []reason.Reason{reason.Throttled, reason.Blocked, reason.StoreDown}),
			},
			What:   "Asks of the vendor's budget: granted, or refused for a cause with a slot in the future (booked) or with all of them taken as far as slots are given (beyond).",
			Action: "beyond for long: a tenant wants more than its hour allows; its codes go to the dirty set and come back at its pace. See docs/quota.md.",
		},
		{
			Name: "rollcall.budget.spare", Prometheus: "rollcall_budget_spare_total", Kind: Counter, Unit: "{ask}",
			Labels: []Label{{"granted", []string{"false", "true"}}},
			What:   "Asks for a call that nobody waits for (the spot check's), and whether there was budget to spare.",
			Action: "Never granted for hours: the budget is in use, and nothing of what WeCom holds is looked at.",
		},
		{
			Name: "rollcall.budget.degraded", Prometheus: "rollcall_budget_degraded", Kind: Gauge, Unit: "{instance}",
			What:   "1 while Redis cannot be asked and this process paces itself by its share of the budget (ROLLCALL_BUDGET_INSTANCES).",
			Action: "Bring Redis back: docs/operations/losing-redis.md. Nothing is lost meanwhile, and less is pushed than could be.",
		},
		{
			Name: "rollcall.budget.throttled_answers", Prometheus: "rollcall_budget_throttled_answers_total", Kind: Counter, Unit: "{answer}",
			Labels: []Label{{"errcode", []string{"45009", "45033"}}},
			What:   "Answers of WeCom that refuse a call for frequency (45009: the API is blocked for a tenant) or for too many at once (45033).",
			Action: "45009 must stay at zero: other software calls with the same corp or from the same address, or ROLLCALL_BUDGET_* is above what WeCom allows.",
		},
		{
			Name: "rollcall.wecom.call.duration", Prometheus: "rollcall_wecom_call_duration_seconds", Kind: Histogram, Unit: "s",
			Labels: []Label{
				{"op", []string{"gettoken", "add_contact_way", "get_contact_way", "update_contact_way", "del_contact_way", "list_contact_way"}},
				label("class", []string{"ok", "token_refused", "too_late"}, []reason.Reason{
					reason.Transient, reason.Throttled, reason.Gone, reason.BadMember, reason.Credentials, reason.UnknownError,
				}),
			},
			Buckets: []float64{.01, .025, .05, .1, .2, .4, .8, 1.6, 3.2, 6.4, 12.8},
			What:    "Time of one exchange with WeCom, by API and the class of its outcome.",
			Action:  "transient rising: WeCom or the way to it is in trouble, and the breaker will open. Slow and ok: every refresh takes longer, and a tenant's codes in flight bound its pace.",
		},
		{
			Name: "rollcall.wecom.token_store.failures", Prometheus: "rollcall_wecom_token_store_failures_total", Kind: Counter, Unit: "{operation}",
			Labels: []Label{{"operation", []string{"get", "put", "invalidate", "lease", "release", "refusal", "put_refusal", "drop_refusal"}}},
			What:   "Operations on the shared store of access tokens that failed; the process went on with a token of its own.",
			Action: "See Redis. With many processes alone, WeCom may refuse gettoken for frequency.",
		},
		{
			Name: "rollcall.wecom.breaker.transitions", Prometheus: "rollcall_wecom_breaker_transitions_total", Kind: Counter, Unit: "{transition}",
			Labels: []Label{{"scope", []string{"tenant", "vendor"}}, {"state", []string{"closed", "half-open", "open"}}},
			What:   "Changes of a circuit breaker's state: a tenant's, whose credentials are refused, or that of all of WeCom.",
			Action: "vendor open: WeCom does not answer as it should; codes wait and nothing is lost. tenant open: that tenant's app or secret, `rollcall dirty list --reason credentials` names it.",
		},
	}
}
