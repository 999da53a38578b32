//go:build unix

package observability

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"
)

// Inhibition is one rule by which alerts explain others, as Alertmanager's
// configuration has it.
type Inhibition = map[string]any

// ReadInhibitions reads the inhibit_rules of a file, which may hold more.
func ReadInhibitions(path string) ([]Inhibition, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Rules []Inhibition `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(file.Rules) == 0 {
		return nil, fmt.Errorf("%s: %w", path, errNoInhibitions)
	}
	return file.Rules, nil
}

var errNoInhibitions = errors.New("no inhibit_rules")

// Alertmanager is a running server that notifies this process.
type Alertmanager struct {
	server
	receiver *http.Server

	mu    sync.Mutex
	notes map[string]time.Time // by alert: the first notification since forgotten
}

// StartAlertmanager starts Debian's Alertmanager on a free port. It waits for
// groupWait before it notifies, so that an alert that explains another may come
// a moment later than it.
func StartAlertmanager(ctx context.Context, dir string, groupWait time.Duration, inhibitions []Inhibition) (*Alertmanager, error) {
	a := &Alertmanager{notes: map[string]time.Time{}}
	hook, err := a.receive(ctx)
	if err != nil {
		return nil, err
	}
	config, err := writeAlertmanagerConfig(dir, hook, groupWait, inhibitions)
	if err != nil {
		return nil, errors.Join(err, a.receiver.Close())
	}
	a.server, err = startServer(ctx, dir, "prometheus-alertmanager", "/-/ready", func(address string) []string {
		return []string{
			"--config.file=" + config, "--storage.path=" + filepath.Join(dir, "alerts"), "--web.listen-address=" + address,
			"--cluster.listen-address=", "--log.level=warn",
		}
	})
	if err != nil {
		return nil, errors.Join(err, a.receiver.Close())
	}
	return a, nil
}

// Stop ends the server. Its folder stays.
func (a *Alertmanager) Stop(ctx context.Context) error {
	return errors.Join(a.server.Stop(ctx), a.receiver.Close())
}

// receive takes notifications as a pager does.
func (a *Alertmanager) receive(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for notifications: %w", err)
	}
	a.receiver = &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var note struct {
			Alerts []struct {
				Status string
				Labels map[string]string
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&note); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, alert := range note.Alerts {
			name := alert.Labels["alertname"]
			if _, known := a.notes[name]; alert.Status == "firing" && !known {
				a.notes[name] = time.Now()
			}
		}
	})}
	go func() { _ = a.receiver.Serve(l) }() // ends with Close
	return "http://" + l.Addr().String(), nil
}

// Forget empties what Notified returns.
func (a *Alertmanager) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.notes)
}

// Notified are the alerts that a person was told of, with the time of the first
// notification. Inhibited ones are not among them.
func (a *Alertmanager) Notified() map[string]time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make(map[string]time.Time, len(a.notes))
	for name, at := range a.notes {
		out[name] = at
	}
	return out
}

// Alert is one that fires now.
type Alert struct {
	Labels map[string]string `json:"labels"`
	Status struct {
		State       string   `json:"state"` // "active" or "suppressed"
		InhibitedBy []string `json:"inhibitedBy"`
	} `json:"status"`
}

// Name of the alert.
func (a Alert) Name() string { return a.Labels["alertname"] }

// Suppressed reports that another alert explains this one.
func (a Alert) Suppressed() bool { return a.Status.State == "suppressed" }

// Firing are the alerts that fire now, inhibited ones included.
func (a *Alertmanager) Firing(ctx context.Context) (alerts []Alert, err error) {
	_, body, err := get(ctx, a.URL+"/api/v2/alerts")
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(body, &alerts)
	return alerts, err
}

func writeAlertmanagerConfig(dir, hook string, groupWait time.Duration, inhibitions []Inhibition) (string, error) {
	type object = map[string]any
	text, err := json.MarshalIndent(object{
		"route": object{
			"receiver": "test", "group_by": []string{"..."},
			"group_wait": prometheusDuration(groupWait), "group_interval": "1s", "repeat_interval": "1h",
		},
		"receivers":     []object{{"name": "test", "webhook_configs": []object{{"url": hook, "send_resolved": true}}}},
		"inhibit_rules": inhibitions,
	}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "alertmanager.yaml")
	return path, os.WriteFile(path, text, 0o600)
}
