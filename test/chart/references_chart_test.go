//go:build chart

package chart

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A service, as far as the tests read it.
type service struct {
	manifest
	Spec struct {
		Selector map[string]string
		Ports    []struct {
			Name       string
			Port       int
			TargetPort any
		}
	}
}

func (r rendering) services(tb testing.TB) []service {
	tb.Helper()
	var all []service
	for _, m := range r.of("Service") {
		s := service{manifest: m}
		m.as(tb, &s)
		all = append(all, s)
	}
	return all
}

// port returns the name of the port that is given by name or number; "" when
// the service has none such.
func (s service) port(given any) string {
	for _, port := range s.Spec.Ports {
		if text(given) == port.Name || text(given) == strconv.Itoa(port.Port) {
			return port.Name
		}
	}
	return ""
}

// selects reports whether labels are among those asked for.
func selects(selector, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return true
}

// selected returns the workloads whose pods have the labels.
func selected(all []workload, selector map[string]string) []workload {
	var found []workload
	for _, w := range all {
		if selects(selector, w.labels) {
			found = append(found, w)
		}
	}
	return found
}

// listens reports whether a container of the pod has the port.
func (w workload) listens(port any) bool {
	return slices.ContainsFunc(w.spec.Containers, func(c container) bool {
		number := c.port(port)
		return slices.ContainsFunc(c.Ports, func(p struct {
			Name          string
			ContainerPort int
		},
		) bool {
			return p.ContainerPort == number
		})
	})
}

// What names another object, a pod or a port names one that is there.
func TestObjectsFindEachOther(t *testing.T) {
	for _, r := range current(t) {
		t.Run(r.name(), func(t *testing.T) {
			pods, services := r.workloads(t), r.services(t)
			for _, s := range services {
				found := selected(pods, s.Spec.Selector)
				if len(found) == 0 {
					t.Errorf("%s selects no pod", s)
				}
				for _, port := range s.Spec.Ports {
					for _, w := range found {
						if !w.listens(port.TargetPort) {
							t.Errorf("%s leads to port %v of %s, which has none such", s, port.TargetPort, w)
						}
					}
				}
			}
			r.lookAtSelectors(t, pods)
			r.lookAtMonitors(t, pods, services)
			r.lookAtBackends(t, services)
			r.lookAtScalers(t)
			r.lookAtAccounts(t, pods)
		})
	}
}

func (r rendering) lookAtSelectors(t *testing.T, pods []workload) {
	t.Helper()
	for _, m := range slices.Concat(r.of("PodDisruptionBudget"), r.of("NetworkPolicy"), r.of("Deployment")) {
		var object struct {
			Spec struct {
				Selector, PodSelector struct{ MatchLabels map[string]string }
				Ingress               []struct{ Ports []struct{ Port any } }
			}
		}
		m.as(t, &object)
		selector := object.Spec.Selector.MatchLabels
		if m.Kind == "NetworkPolicy" {
			selector = object.Spec.PodSelector.MatchLabels
		}
		found := selected(pods, selector)
		if len(selector) == 0 || len(found) == 0 {
			t.Errorf("%s selects %d of our pods by %v", m, len(found), selector)
		}
		for _, rule := range object.Spec.Ingress {
			for _, port := range rule.Ports {
				if !slices.ContainsFunc(found, func(w workload) bool { return w.listens(port.Port) }) {
					t.Errorf("%s lets in to port %v, where none of its pods listens", m, port.Port)
				}
			}
		}
	}
}

func (r rendering) lookAtMonitors(t *testing.T, pods []workload, services []service) {
	t.Helper()
	type endpoint struct {
		Port any
		Path string
	}
	for _, m := range slices.Concat(r.of("ServiceMonitor"), r.of("PodMonitor")) {
		var monitor struct {
			Spec struct {
				Selector struct {
					MatchLabels      map[string]string
					MatchExpressions []struct {
						Key, Operator string
						Values        []string
					}
				}
				Endpoints, PodMetricsEndpoints []endpoint
			}
		}
		m.as(t, &monitor)
		fits := func(labels map[string]string) bool {
			for _, e := range monitor.Spec.Selector.MatchExpressions {
				if slices.Contains(e.Values, labels[e.Key]) != (e.Operator == "In") {
					return false
				}
			}
			return selects(monitor.Spec.Selector.MatchLabels, labels)
		}
		roles := map[string]bool{}
		for _, e := range slices.Concat(monitor.Spec.Endpoints, monitor.Spec.PodMetricsEndpoints) {
			if e.Path != "" && e.Path != "/metrics" {
				t.Errorf("%s scrapes %s, where nothing is served", m, e.Path)
			}
			for _, s := range services {
				if m.Kind == "ServiceMonitor" && fits(s.Metadata.Labels) && s.port(e.Port) != "" {
					for _, w := range selected(pods, s.Spec.Selector) {
						roles[w.labels[component]] = true
					}
				}
			}
			for _, w := range pods {
				if m.Kind == "PodMonitor" && fits(w.labels) && w.listens(e.Port) {
					roles[w.labels[component]] = true
				}
			}
		}
		for _, w := range pods {
			for _, c := range w.spec.Containers {
				if c.ours() && c.serves() && !roles[c.Args[0]] {
					t.Errorf("%s does not scrape the %s", m, c.Args[0])
				}
			}
		}
	}
}

const component = "app.kubernetes.io/component"

func (r rendering) lookAtBackends(t *testing.T, services []service) {
	t.Helper()
	has := func(m manifest, name string, port any) {
		if !slices.ContainsFunc(services, func(s service) bool { return s.Metadata.Name == name && s.port(port) != "" }) {
			t.Errorf("%s leads to port %v of service %s, which is not there", m, port, name)
		}
	}
	for _, m := range r.of("Ingress") {
		var ingress struct {
			Spec struct {
				Rules []struct {
					HTTP struct {
						Paths []struct {
							Backend struct {
								Service struct {
									Name string
									Port struct{ Name, Number any }
								}
							}
						}
					}
				}
			}
		}
		m.as(t, &ingress)
		for _, rule := range ingress.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				backend := path.Backend.Service
				if backend.Port.Name != nil {
					has(m, backend.Name, backend.Port.Name)
				} else {
					has(m, backend.Name, backend.Port.Number)
				}
			}
		}
	}
	for _, m := range r.of("HTTPRoute") {
		var route struct {
			Spec struct {
				Rules []struct {
					BackendRefs []struct {
						Name string
						Port any
					}
				}
			}
		}
		m.as(t, &route)
		for _, rule := range route.Spec.Rules {
			for _, backend := range rule.BackendRefs {
				has(m, backend.Name, backend.Port)
			}
		}
	}
}

// lookAtScalers finds what is scaled, by one scaler alone and without a number
// of replicas that every upgrade would set back.
func (r rendering) lookAtScalers(t *testing.T) {
	t.Helper()
	scaled := map[string]int{}
	for _, m := range slices.Concat(r.of("HorizontalPodAutoscaler"), r.of("ScaledObject")) {
		var scaler struct {
			Spec struct{ ScaleTargetRef struct{ Name, Kind string } }
		}
		m.as(t, &scaler)
		scaled[scaler.Spec.ScaleTargetRef.Name]++
	}
	for _, w := range r.workloads(t) {
		if times := scaled[w.Metadata.Name]; w.Kind == "Deployment" && times > 0 {
			if times > 1 {
				t.Errorf("%s has %d scalers, which would fight", w, times)
			}
			if w.replicas > 0 {
				t.Errorf("%s is scaled and sets its replicas: every upgrade would set them back", w)
			}
			delete(scaled, w.Metadata.Name)
		}
	}
	for name := range scaled {
		t.Errorf("a scaler scales %s, which is not there", name)
	}
}

// lookAtAccounts finds the service account of each pod. A hook runs before the
// release's own objects are there, so its account is a hook of the same points,
// made before it. An account that the values name is the operator's to make.
func (r rendering) lookAtAccounts(t *testing.T, pods []workload) {
	t.Helper()
	values := readValues(t, r.values)
	for _, w := range pods {
		name := w.spec.ServiceAccountName
		role, _ := values[w.labels[component]].(map[string]any)
		account, _ := role["serviceAccount"].(map[string]any)
		if name == "" || name == "default" || account["create"] == false {
			continue
		}
		made := slices.IndexFunc(r.manifests, func(m manifest) bool { return m.Kind == "ServiceAccount" && m.Metadata.Name == name })
		switch {
		case made < 0:
			t.Errorf("%s runs as %s, which is not there", w, name)
		case strings.HasPrefix(w.hook(), "pre-") && (r.manifests[made].hook() != w.hook() || weight(r.manifests[made]) >= weight(w.manifest)):
			t.Errorf("%s runs as %s, which is made later", w, name)
		}
	}
}

func weight(m manifest) int {
	number, _ := strconv.Atoi(m.Metadata.Annotations["helm.sh/hook-weight"])
	return number
}
