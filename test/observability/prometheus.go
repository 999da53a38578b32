//go:build unix

package observability

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/test/stack"
)

// ScrapeTarget is where a process is scraped: host and port, and labels of its own
// beside job and instance.
type ScrapeTarget struct {
	Address string
	Labels  map[string]string
}

// PrometheusOptions of a server.
type PrometheusOptions struct {
	Dir   string        // for its data, its configuration and its log
	Every time.Duration // between two scrapes and two evaluations
	Rules []RuleFile
	// Targets are asked for again every second; the server takes over a change
	// within about five.
	Targets func() []ScrapeTarget
	// Alertmanager is the URL of one; "" is none.
	Alertmanager string
}

// Prometheus is a running server.
type Prometheus struct {
	server
	discovery *http.Server
	api       api
}

// The job of everything that is scraped.
const job = "rollcall"

// StartPrometheus starts Debian's Prometheus on a free port and returns when it
// answers.
func StartPrometheus(ctx context.Context, o PrometheusOptions) (*Prometheus, error) {
	p := &Prometheus{}
	discovery, err := p.discover(ctx, o.Targets)
	if err != nil {
		return nil, err
	}
	config, err := writePrometheusConfig(o, discovery)
	if err != nil {
		return nil, errors.Join(err, p.discovery.Close())
	}
	p.server, err = startServer(ctx, o.Dir, "prometheus", "/-/ready", func(address string) []string {
		return []string{
			"--config.file=" + config, "--storage.tsdb.path=" + filepath.Join(o.Dir, "data"),
			"--web.listen-address=" + address, "--log.level=warn",
			"--rules.alert.resend-delay=1s", "--query.lookback-delta=" + max(10*o.Every, 5*time.Second).String(),
		}
	})
	if err != nil {
		return nil, errors.Join(err, p.discovery.Close())
	}
	p.api = api{p.URL}
	return p, nil
}

// Stop ends the server. Its folder stays.
func (p *Prometheus) Stop(ctx context.Context) error {
	return errors.Join(p.server.Stop(ctx), p.discovery.Close())
}

// discover serves the targets as Prometheus asks for them.
func (p *Prometheus) discover(ctx context.Context, targets func() []ScrapeTarget) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for Prometheus's discovery: %w", err)
	}
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels,omitempty"`
	}
	p.discovery = &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		groups := []group{}
		for _, t := range targets() {
			groups = append(groups, group{[]string{t.Address}, t.Labels})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(groups) // Prometheus keeps the last it was told
	})}
	go func() { _ = p.discovery.Serve(l) }() // ends with Close
	return "http://" + l.Addr().String(), nil
}

// writePrometheusConfig returns the path of a configuration in JSON, which is
// YAML.
func writePrometheusConfig(o PrometheusOptions, discovery string) (string, error) {
	rules, err := WriteRules(o.Dir, o.Rules)
	if err != nil {
		return "", err
	}
	every := prometheusDuration(o.Every)
	type object = map[string]any
	config := object{
		"global":     object{"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
		"rule_files": rules,
		"scrape_configs": []object{{
			"job_name":        job,
			"http_sd_configs": []object{{"url": discovery, "refresh_interval": "1s"}},
		}},
	}
	if o.Alertmanager != "" {
		host := strings.TrimPrefix(o.Alertmanager, "http://")
		config["alerting"] = object{"alertmanagers": []object{{"static_configs": []object{{"targets": []string{host}}}}}}
	}
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(o.Dir, "prometheus.yaml")
	return path, os.WriteFile(path, text, 0o600)
}

// Series is what a query returns for one set of labels.
type Series struct {
	Labels map[string]string
	Points []Point
}

// Point is one value.
type Point struct {
	At    time.Time
	Value float64
}

// Query evaluates an expression at an instant. A scalar is a series without
// labels.
func (p *Prometheus) Query(ctx context.Context, expr string, at time.Time) ([]Series, error) {
	return p.api.series(ctx, "query", url.Values{"query": {expr}, "time": {unix(at)}})
}

// Range evaluates an expression at every step of a span.
func (p *Prometheus) Range(ctx context.Context, expr string, from, to time.Time, step time.Duration) ([]Series, error) {
	return p.api.series(ctx, "query_range", url.Values{
		"query": {expr}, "start": {unix(from)}, "end": {unix(to)}, "step": {fmt.Sprint(step.Seconds())},
	})
}

// Selected is how many series a selector found in a span.
func (p *Prometheus) Selected(ctx context.Context, selector string, from, to time.Time) (int, error) {
	var found []json.RawMessage
	err := p.api.get(ctx, "series", url.Values{"match[]": {selector}, "start": {unix(from)}, "end": {unix(to)}}, &found)
	return len(found), err
}

// LabelValues are the values of a label of the series that a selector finds.
func (p *Prometheus) LabelValues(ctx context.Context, selector, label string) (values []string, err error) {
	query := url.Values{}
	if selector != "" {
		query.Set("match[]", selector)
	}
	err = p.api.get(ctx, "label/"+label+"/values", query, &values)
	return values, err
}

// Failing are the rules whose last evaluation failed, with the reason.
func (p *Prometheus) Failing(ctx context.Context) (map[string]string, error) {
	var found struct {
		Groups []struct {
			Rules []struct{ Name, LastError string }
		}
	}
	if err := p.api.get(ctx, "rules", nil, &found); err != nil {
		return nil, err
	}
	failing := map[string]string{}
	for _, group := range found.Groups {
		for _, rule := range group.Rules {
			if rule.LastError != "" {
				failing[rule.Name] = rule.LastError
			}
		}
	}
	return failing, nil
}

func unix(t time.Time) string { return fmt.Sprintf("%.3f", float64(t.UnixMilli())/1000) }

// newProgram is a program of one of Debian's packages.
func newProgram(name string, args []string) (*exec.Cmd, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%w (on Debian: apt-get install %s)", err, name)
	}
	return exec.Command(path, args...), nil //nolint:noctx // it is stopped by its ID, see stack.Child
}

// server is a program with an HTTP API.
type server struct {
	URL   string
	child *stack.Child
	log   *os.File
}

// startPatience bounds the wait for a server's answer on a very busy machine.
const startPatience = time.Minute

// startServer starts a program on a free port and waits until it is ready.
func startServer(ctx context.Context, dir, name, ready string, args func(address string) []string) (s server, err error) {
	ports, err := stack.FreePorts(1)
	if err != nil {
		return s, err
	}
	address := stack.Loopback(ports[0])
	cmd, err := newProgram(name, args(address))
	if err != nil {
		return s, err
	}
	s.URL = "http://" + address
	if s.log, err = os.Create(filepath.Join(dir, name+".log")); err != nil {
		return s, err
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, s.log, s.log
	if s.child, err = stack.Launch(cmd); err != nil {
		return s, errors.Join(err, s.log.Close())
	}
	if err := s.await(ctx, ready); err != nil {
		return s, errors.Join(fmt.Errorf("%s: %w; see %s", name, err, s.log.Name()), s.Stop(ctx))
	}
	return s, nil
}

var errEnded = errors.New("it ended before it was ready")

func (s server) await(ctx context.Context, ready string) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if status, _, err := get(ctx, s.URL+ready); err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.child.Exited():
			return errEnded
		case <-tick.C:
		}
	}
}

// Stop ends the program and waits for it.
func (s server) Stop(ctx context.Context) error {
	return errors.Join(s.child.Stop(context.WithoutCancel(ctx)), s.log.Close())
}
