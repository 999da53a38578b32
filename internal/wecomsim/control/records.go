package control

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/ledger"
)

// records is what happened: ledger, scans, counters.
func (a *api) records() map[string]endpoint {
	return map[string]endpoint{
		"GET /ledger":       a.ledger,
		"GET /ledger/peaks": a.peaks,
		"GET /scanlog":      a.scanLog,
		"GET /counters":     a.counters,
		"DELETE /records":   a.clearRecords,
	}
}

func (a *api) ledger(r *http.Request) (reply, error) {
	q, err := ledgerQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return lines[ledger.Entry]{q.Select(a.sim.Ledger().After(q.After))}, nil
}

// peaks counts the busiest windows: ?by=corp|ip&window=60s, and the ledger's
// selectors.
func (a *api) peaks(r *http.Request) (reply, error) {
	values := r.URL.Query()
	by := ledger.Owner(values.Get("by"))
	if by == "" {
		by = ledger.ByCorp
	}
	if by != ledger.ByCorp && by != ledger.ByIP {
		return nil, fmt.Errorf("by is %q or %q, not %q", ledger.ByCorp, ledger.ByIP, by)
	}
	length, err := time.ParseDuration(values.Get("window"))
	if err != nil || length <= 0 {
		return nil, fmt.Errorf("window is a positive duration such as 60s, not %q", values.Get("window"))
	}
	values.Del("by")
	values.Del("window")
	q, err := ledgerQuery(values)
	if err != nil {
		return nil, err
	}
	return ok(ledger.Peaks(q.Select(a.sim.Ledger().All()), by, length))
}

func (a *api) scanLog(r *http.Request) (reply, error) {
	var after uint64
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.ParseUint(text, 10, 64); err != nil {
			return nil, fmt.Errorf("after is a number, not %q", text)
		}
	}
	return lines[wecomsim.Scan]{a.sim.ScanLog().After(after)}, nil
}

func (a *api) counters(*http.Request) (reply, error) { return ok(a.sim.Counters()) }

func (a *api) clearRecords(*http.Request) (reply, error) {
	a.sim.ClearRecords()
	return nil, nil
}

// ledgerQuery reads the selectors of the ledger; an unknown one is an error.
func ledgerQuery(values url.Values) (ledger.Query, error) {
	var q ledger.Query
	for name := range values {
		text := values.Get(name)
		if err := selectBy(&q, name, text); err != nil {
			return q, fmt.Errorf("%s=%q: %w", name, text, err)
		}
	}
	return q, nil
}

func selectBy(q *ledger.Query, name, text string) (err error) {
	switch name {
	case "corp":
		q.Corp = text
	case "ip":
		q.IP = text
	case "api":
		q.API = text
	case "config_id":
		q.ConfigID = text
	case "fault":
		q.Fault = text
	case "errcode":
		var code int
		code, err = strconv.Atoi(text)
		q.ErrCode = &code
	case "since":
		q.Since, err = time.Parse(time.RFC3339Nano, text)
	case "until":
		q.Until, err = time.Parse(time.RFC3339Nano, text)
	case "after":
		q.After, err = strconv.ParseUint(text, 10, 64)
	case "limit":
		q.Limit, err = strconv.Atoi(text)
	default:
		err = fmt.Errorf("no such selector")
	}
	return err
}
