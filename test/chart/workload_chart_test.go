//go:build chart

package chart

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// A workload is a pod or what makes pods, as far as the tests read it.
type workload struct {
	manifest
	replicas int // of a Deployment that says so
	surge    string
	labels   map[string]string
	spec     podSpec
}

type podSpec struct {
	ServiceAccountName            string
	PriorityClassName             string
	TerminationGracePeriodSeconds int
	InitContainers, Containers    []container
	Volumes                       []volume
}

type container struct {
	Name, Image   string
	Command, Args []string
	Ports         []struct {
		Name          string
		ContainerPort int
	}
	Env []struct {
		Name, Value string
		ValueFrom   *struct {
			SecretKeyRef    *struct{ Name, Key string }
			ConfigMapKeyRef *struct{ Name, Key string }
		}
	}
	EnvFrom []struct {
		ConfigMapRef *struct{ Name string }
		SecretRef    *struct{ Name string }
	}
	StartupProbe, LivenessProbe, ReadinessProbe *probe
	Lifecycle                                   struct {
		PreStop struct{ Sleep struct{ Seconds int } }
	}
	VolumeMounts []struct{ Name, MountPath string }
	Resources    struct {
		Limits map[string]any
	}
}

type probe struct {
	HTTPGet *struct {
		Path string
		Port any
	}
}

type volume struct {
	Name   string
	Secret *struct {
		SecretName string
		Items      []fileItem
	}
	Projected *struct {
		Sources []struct {
			Secret *struct{ Items []fileItem }
		}
	}
}

type fileItem struct{ Key, Path string }

// files are what the volume has of Secrets, relative to where it is mounted.
func (v volume) files() []string {
	var items []fileItem
	if v.Secret != nil {
		items = v.Secret.Items
	}
	if v.Projected != nil {
		for _, source := range v.Projected.Sources {
			if source.Secret != nil {
				items = append(items, source.Secret.Items...)
			}
		}
	}
	paths := make([]string, 0, len(items))
	for _, item := range items {
		paths = append(paths, item.Path)
	}
	return paths
}

type podTemplate struct {
	Metadata struct{ Labels map[string]string }
	Spec     podSpec
}

// workloads returns everything of a rendering that has pods.
func (r rendering) workloads(tb testing.TB) []workload {
	tb.Helper()
	var all []workload
	for _, m := range r.manifests {
		switch m.Kind {
		case "Pod":
			var pod podTemplate
			m.as(tb, &pod)
			all = append(all, workload{manifest: m, labels: pod.Metadata.Labels, spec: pod.Spec})
		case "Deployment", "StatefulSet", "Job":
			var owner struct {
				Spec struct {
					Replicas int
					Strategy struct {
						RollingUpdate struct{ MaxSurge any }
					}
					Template podTemplate
				}
			}
			m.as(tb, &owner)
			all = append(all, workload{
				manifest: m, replicas: owner.Spec.Replicas, surge: text(owner.Spec.Strategy.RollingUpdate.MaxSurge),
				labels: owner.Spec.Template.Metadata.Labels, spec: owner.Spec.Template.Spec,
			})
		}
	}
	return all
}

// text is a number or a string of YAML as text.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return ""
	}
}

// ours reports a container that runs the product itself.
func (c container) ours() bool {
	return (strings.Contains(c.Image, "/rollcall:") || strings.Contains(c.Image, "/rollcall@")) &&
		len(c.Command) == 0 && len(c.Args) > 0
}

// reads reports a container whose command reads the configuration.
func (c container) reads() bool {
	switch c.Args[0] {
	case "refresher", "ingress", "keeper", "preflight":
		return true
	default:
		return false
	}
}

// serves reports a container that is a role.
func (c container) serves() bool { return c.reads() && c.Args[0] != "preflight" }

// port returns the number of a port that is given by name or number; 0 for a
// name that the container has not.
func (c container) port(given any) int {
	if number, err := strconv.Atoi(text(given)); err == nil {
		return number
	}
	for _, port := range c.Ports {
		if port.Name == text(given) {
			return port.ContainerPort
		}
	}
	return 0
}

// seconds is a number of seconds as a duration.
func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
