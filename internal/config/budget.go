package config

import "time"

// Budget is what WeCom allows and how it is shared. The defaults are those of
// WeCom's page on frequency limits (90312); a third-party provider's IP has
// twice the default.
type Budget struct {
	TenantPerMinute int           `envconfig:"ROLLCALL_BUDGET_TENANT_PER_MINUTE" default:"10000" accept:"1..1000000" desc:"Calls WeCom allows a corp on one API in a minute."`
	TenantPerHour   int           `envconfig:"ROLLCALL_BUDGET_TENANT_PER_HOUR" default:"150000" accept:"1..60000000" desc:"The same in an hour."`
	TenantBurst     int           `envconfig:"ROLLCALL_BUDGET_TENANT_BURST" default:"7500" accept:"1..1000000" desc:"Calls that an idle tenant may make at once. A larger burst leaves a lower steady rate."`
	IPPerMinute     int           `envconfig:"ROLLCALL_BUDGET_IP_PER_MINUTE" default:"20000" accept:"1..2000000" desc:"Calls WeCom allows an IP address on one API in a minute; 40000 for a third-party provider."`
	IPPerHour       int           `envconfig:"ROLLCALL_BUDGET_IP_PER_HOUR" default:"600000" accept:"1..120000000" desc:"The same in an hour; 1200000 for a third-party provider."`
	IPBurst         int           `envconfig:"ROLLCALL_BUDGET_IP_BURST" default:"9800" accept:"1..2000000" desc:"Calls that may leave an idle IP address at once."`
	Delay           time.Duration `envconfig:"ROLLCALL_BUDGET_DELAY" default:"2s" accept:"100ms..30s" desc:"Longest time from an admission to the wire. A call that is later asks again."`
	RemovalShare    float64       `envconfig:"ROLLCALL_BUDGET_REMOVAL_SHARE" default:"0.03" accept:"0..0.5" desc:"Share of a tenant's budget kept for lists that remove somebody."`
	IPReserveShare  float64       `envconfig:"ROLLCALL_BUDGET_IP_RESERVE_SHARE" default:"0.1" accept:"0..0.5" desc:"Share of the IP's budget kept for tenants below their fair share."`
	SpareShare      float64       `envconfig:"ROLLCALL_BUDGET_SPARE_SHARE" default:"0.1" accept:"0.001..0.5" desc:"Share of a tenant's and of the IP's rate that the spot check may use, while at least half of each is idle."`
	Instances       int           `envconfig:"ROLLCALL_BUDGET_INSTANCES" default:"3" accept:"1..1000" desc:"Most refreshers that run at once. While Redis cannot be asked, each paces itself to its share."`
	Minute          time.Duration `envconfig:"ROLLCALL_BUDGET_MINUTE" default:"1m" accept:"100ms..1m" desc:"Length of WeCom's short window. Shorter only against a simulator."`
	Hour            time.Duration `envconfig:"ROLLCALL_BUDGET_HOUR" default:"1h" accept:"1s..1h" desc:"Length of WeCom's long window. Shorter only against a simulator."`
}

func (b Budget) rules() []contradiction {
	const spends = "a whole burst must leave room in the window, so the first has to be smaller"
	const shrinks = "the long window must allow at least as much as the short one"
	return []contradiction{
		{[]string{"ROLLCALL_BUDGET_TENANT_BURST", "ROLLCALL_BUDGET_TENANT_PER_MINUTE"}, b.TenantBurst >= b.TenantPerMinute, spends},
		{[]string{"ROLLCALL_BUDGET_TENANT_BURST", "ROLLCALL_BUDGET_TENANT_PER_HOUR"}, b.TenantBurst >= b.TenantPerHour, spends},
		{[]string{"ROLLCALL_BUDGET_IP_BURST", "ROLLCALL_BUDGET_IP_PER_MINUTE"}, b.IPBurst >= b.IPPerMinute, spends},
		{[]string{"ROLLCALL_BUDGET_IP_BURST", "ROLLCALL_BUDGET_IP_PER_HOUR"}, b.IPBurst >= b.IPPerHour, spends},
		{[]string{"ROLLCALL_BUDGET_TENANT_PER_HOUR", "ROLLCALL_BUDGET_TENANT_PER_MINUTE"}, b.TenantPerHour < b.TenantPerMinute, shrinks},
		{[]string{"ROLLCALL_BUDGET_IP_PER_HOUR", "ROLLCALL_BUDGET_IP_PER_MINUTE"}, b.IPPerHour < b.IPPerMinute, shrinks},
		{[]string{"ROLLCALL_BUDGET_MINUTE", "ROLLCALL_BUDGET_HOUR"}, b.Minute >= b.Hour, "the first is the short window"},
	}
}
