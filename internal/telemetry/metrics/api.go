package metrics

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/httpapi"
)

const (
	nameAPIRequests = "rollcall.api.requests"
	nameAPITime     = "rollcall.api.duration"
	nameAPIRefusals = "rollcall.api.refusals"
)

// The kinds of requests.
const (
	kindRead   = "read"
	kindWrite  = "write"
	kindImport = "import"
)

// statusClasses are the answers of HTTP by their first digit.
var statusClasses = []string{"2xx", "4xx", "5xx", Other}

// serving are about the HTTP API.
func serving() []Instrument {
	return []Instrument{
		{
			Name: nameAPIRequests, Prometheus: "rollcall_api_requests_total", Kind: Counter, Unit: "{request}",
			Labels: []Label{{"route", append(routeWords(), Other)}, {"status", statusClasses}},
			What:   "Requests to the API by route (with its method; none when no route matches) and class of status.",
			Action: "5xx: MongoDB, or the broker and the dirty set, are away; see /readyz and the log. 4xx: rollcall.api.refusals says why.",
		},
		{
			Name: nameAPITime, Prometheus: "rollcall_api_duration_seconds", Kind: Histogram, Unit: "s",
			Labels:  []Label{{"kind", []string{kindRead, kindWrite, kindImport, Other}}},
			Buckets: []float64{0.01, 0.1, 1, 5},
			What:    "From the head of a request to the end of its answer: reads, writes, and imports, which take as long as their bodies.",
			Action:  "read or write above 1 s: MongoDB or the broker is slow.",
		},
		{
			Name: nameAPIRefusals, Prometheus: "rollcall_api_refusals_total", Kind: Counter, Unit: "{problem}",
			Labels: []Label{{"cause", append(httpapi.Causes(), Other)}},
			What:   "Problems that the API answered, by code.",
			Action: "no_token and bad_token in numbers: a client has lost its token, or somebody tries. too_many_requests: raise ROLLCALL_API_RATE, or the client has a loop. unannounced: facts are stored of which no code knows; the client has to repeat. panicked is a bug: report it with the log.",
		},
	}
}

// API records what the HTTP API does. It is httpapi.Observer; its methods are
// safe for concurrent use and neither block nor fail.
type API struct {
	requests counter
	took     histogram
	refused  counter
}

var _ httpapi.Observer = (*API)(nil)

// NewAPI makes the instruments of the catalog.
func NewAPI(meter metric.Meter) (*API, error) {
	b := builder{meter: meter}
	a := &API{requests: b.counter(nameAPIRequests), took: b.histogram(nameAPITime), refused: b.counter(nameAPIRefusals)}
	if b.err != nil {
		return nil, fmt.Errorf("creating the API's metrics: %w", b.err)
	}
	return a, nil
}

// Answered records an answer.
func (a *API) Answered(ctx context.Context, route string, status int, took time.Duration) {
	class := Other
	switch status / 100 {
	case 2:
		class = "2xx"
	case 4:
		class = "4xx"
	case 5:
		class = "5xx"
	}
	a.requests.add(ctx, routeWord(route), class)
	a.took.record(ctx, took, kindOf(route), "")
}

// Refused records a problem.
func (a *API) Refused(ctx context.Context, cause string) { a.refused.add(ctx, cause, "") }

func kindOf(route string) string {
	switch {
	case strings.Contains(route, "/imports/"):
		return kindImport
	case strings.HasPrefix(route, "GET "):
		return kindRead
	case strings.HasPrefix(route, "PUT "), strings.HasPrefix(route, "DELETE "):
		return kindWrite
	}
	return Other
}

func routeWords() []string {
	var words []string
	for _, route := range httpapi.Routes() {
		words = append(words, routeWord(route))
	}
	return words
}

// routeWord writes a route's pattern without the braces and the version that all
// have.
func routeWord(route string) string {
	return strings.NewReplacer("{", "", "}", "", " /v1/", " ").Replace(route)
}
