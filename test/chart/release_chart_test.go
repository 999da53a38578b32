//go:build chart

package chart

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/test/chart/cluster"
)

// A release of the chart in a namespace of its own.
type installed struct {
	kubernetes
	t         *testing.T
	namespace string
	values    string
	node      *cluster.Node
}

// release prepares the namespace that a value file is installed into.
func (k kubernetes) release(t *testing.T, namespace, values string) installed {
	t.Helper()
	r, err := render(t.Context(), values, namespace, version(t, "KUBERNETES_VERSION"))
	if err != nil {
		t.Fatal(err)
	}
	k.prepare(t, namespace, r)
	i := installed{kubernetes: k, t: t, namespace: namespace, values: values, node: k.StartNode(t.Context(), namespace)}
	t.Cleanup(i.node.Stop)
	return i
}

// helm runs a command for the release; it waits until the pods are ready.
func (i installed) helm(command string, args ...string) string {
	i.t.Helper()
	since := time.Now()
	out := i.kubernetes.helm(i.t, i.namespace, append([]string{command}, args...)...)
	i.t.Logf("helm %s: %.1f s", command, time.Since(since).Seconds())
	return out
}

// changing are the arguments of install and upgrade. Refreshers need not
// hand over keys here, so nothing waits for that.
func (i installed) changing(set ...string) []string {
	args := []string{release, chartPath, "--values", i.values, "--wait", "--timeout", "5m", "--set", "refresher.maxHold=1s"}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	return args
}

// manifests are what Helm says the release consists of.
func (i installed) manifests() []manifest {
	i.t.Helper()
	all, err := split(i.helm("get", "manifest", release))
	if err != nil {
		i.t.Fatal(err)
	}
	return all
}

// rowsOf reads the objects of a kind in the namespace.
func rowsOf[T any](i installed, group, collection string) []T {
	i.t.Helper()
	var list struct{ Items []T }
	if err := i.Get(i.t.Context(), group+"/namespaces/"+i.namespace+"/"+collection, &list); err != nil {
		i.t.Fatal(err)
	}
	return list.Items
}

// everything lists all objects of the namespace but what tells of the past.
func (i installed) everything(ctx context.Context, kinds string) ([]string, error) {
	out, complaint, err := kubectl.both(ctx, "", i.in(i.t, i.namespace, []string{"get", kinds, "--output", "name"})...)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, complaint)
	}
	lines := strings.Fields(out)
	slices.Sort(lines)
	return lines, nil
}

// kinds are all that a namespace can hold, for everything.
func (k kubernetes) kinds(t *testing.T) string {
	t.Helper()
	names := strings.Fields(k.kubectl(t, "default", "", "api-resources", "--namespaced", "--verbs=list", "--output", "name"))
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "events") })
	return strings.Join(names, ",")
}

func testRelease(t *testing.T, k kubernetes) {
	i := k.release(t, "release", valuesOf("production"))
	kinds := k.kinds(t)
	before, err := i.everything(t.Context(), kinds)
	if err != nil {
		t.Fatal(err)
	}

	i.helm("install", i.changing()...)
	first := i.manifests()
	i.lookAround(first)
	if ran := i.node.Ran(); !slices.Contains(ran, "Job/preflight") {
		t.Errorf("the preflight did not run before the installation: %v", ran)
	}
	if jobs := rowsOf[manifestHead](i, "/apis/batch/v1", "jobs"); len(jobs) > 0 {
		t.Errorf("the preflight's job is left: %v", jobs)
	}
	i.helm("test", release, "--timeout", "2m")

	config, pods := i.config(), i.pods()
	i.helm("upgrade", i.changing("log.level=debug")...)
	i.lookAround(i.manifests())
	if got := i.config()["ROLLCALL_LOG_LEVEL"]; got != "debug" {
		t.Errorf("ROLLCALL_LOG_LEVEL is %q after the upgrade", got)
	}
	eventually(t, "pods of the old configuration go", func(context.Context) error {
		if kept := slices.DeleteFunc(i.pods(), func(pod string) bool { return !slices.Contains(pods, pod) }); len(kept) > 0 {
			return fmt.Errorf("kept: %v", kept)
		}
		return nil
	})

	i.helm("rollback", release, "1", "--wait", "--timeout", "5m")
	if diff := cmp.Diff(texts(first), texts(i.manifests())); diff != "" {
		t.Errorf("the rollback is not what was installed first (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(config, i.config()); diff != "" {
		t.Errorf("the rollback's configuration (-want +got)\n%s", diff)
	}
	i.lookAround(first)

	i.helm("uninstall", release, "--wait", "--timeout", "2m")
	eventually(t, "nothing is left", func(ctx context.Context) error {
		after, err := i.everything(ctx, kinds)
		if diff := cmp.Diff(before, after); err == nil && diff != "" {
			return fmt.Errorf("(-before +after)\n%s", diff)
		}
		return err
	})
	if left := i.existing(first); len(left) > 0 {
		t.Errorf("left in other namespaces: %v", left)
	}
	t.Logf("%d objects came, changed and went; %d were there before and after", len(first), len(before))
}

func texts(manifests []manifest) map[string]string {
	all := map[string]string{}
	for _, m := range manifests {
		all[m.String()] = strings.TrimSpace(m.text)
	}
	return all
}

// config is the configuration of the roles, as the API has it.
func (i installed) config() map[string]string {
	i.t.Helper()
	var found struct{ Data map[string]string }
	if err := i.Get(i.t.Context(), "/api/v1/namespaces/"+i.namespace+"/configmaps/"+release, &found); err != nil {
		i.t.Fatal(err)
	}
	return found.Data
}

// pods are the names of the namespace's pods.
func (i installed) pods() []string {
	i.t.Helper()
	var names []string
	for _, pod := range rowsOf[manifestHead](i, "/api/v1", "pods") {
		names = append(names, pod.Metadata.Name)
	}
	return names
}

// lookAround checks that the objects are there and that the controllers work
// with them.
func (i installed) lookAround(manifests []manifest) {
	i.t.Helper()
	if found := i.existing(manifests); len(found) != len(manifests) {
		i.t.Errorf("%d of %d objects exist: %v", len(found), len(manifests), found)
	}
	if waiting := i.node.Waiting(); len(waiting) > 0 {
		i.t.Errorf("pods wait: %s", strings.Join(waiting, "; "))
	}
	eventually(i.t, "Deployments, budgets, Services and scalers work", func(context.Context) error {
		if problems := i.problems(); len(problems) > 0 {
			return fmt.Errorf("%s", strings.Join(problems, "; "))
		}
		return nil
	})
}

// existing returns the names of those of the objects that exist, in whatever
// namespace they are.
func (i installed) existing(manifests []manifest) []string {
	i.t.Helper()
	var text strings.Builder
	for _, m := range manifests {
		text.WriteString("---\n" + m.text + "\n")
	}
	return strings.Fields(i.kubectl(i.t, i.namespace, text.String(), "get", "--filename", "-", "--output", "name", "--ignore-not-found"))
}

// problems says what the controllers have not brought about.
func (i installed) problems() []string {
	i.t.Helper()
	return slices.Concat(i.idleDeployments(), i.idleBudgets(), i.emptyServices(), i.idleScalers())
}

func (i installed) idleDeployments() (problems []string) {
	type deployment struct {
		manifestHead
		Spec   struct{ Replicas int }
		Status struct{ AvailableReplicas, UpdatedReplicas int }
	}
	for _, d := range rowsOf[deployment](i, "/apis/apps/v1", "deployments") {
		if d.Status.AvailableReplicas != d.Spec.Replicas || d.Status.UpdatedReplicas != d.Spec.Replicas {
			problems = append(problems, fmt.Sprintf("%s has %d of %d pods", d.Metadata.Name, d.Status.AvailableReplicas, d.Spec.Replicas))
		}
	}
	return problems
}

// idleBudgets names the disruption budgets that protect nobody, or that would
// never let a node be drained.
func (i installed) idleBudgets() (problems []string) {
	type budget struct {
		manifestHead
		Status struct{ ExpectedPods, DisruptionsAllowed int }
	}
	for _, b := range rowsOf[budget](i, "/apis/policy/v1", "poddisruptionbudgets") {
		if b.Status.ExpectedPods == 0 || b.Status.DisruptionsAllowed == 0 {
			problems = append(problems, fmt.Sprintf("the budget %s counts %d pods and lets %d go", b.Metadata.Name, b.Status.ExpectedPods, b.Status.DisruptionsAllowed))
		}
	}
	return problems
}

// emptyServices names the services that lead to no ready pod, or to no port.
func (i installed) emptyServices() []string {
	type slice struct {
		manifestHead
		Ports     []struct{ Port int }
		Endpoints []struct{ Conditions struct{ Ready bool } }
	}
	empty := map[string]bool{}
	for _, s := range rowsOf[manifestHead](i, "/api/v1", "services") {
		empty["the service "+s.Metadata.Name+" leads nowhere"] = true
	}
	for _, s := range rowsOf[slice](i, "/apis/discovery.k8s.io/v1", "endpointslices") {
		for _, endpoint := range s.Endpoints {
			if endpoint.Conditions.Ready && len(s.Ports) > 0 && s.Ports[0].Port > 0 {
				delete(empty, "the service "+s.Metadata.Labels["kubernetes.io/service-name"]+" leads nowhere")
			}
		}
	}
	return slices.Sorted(maps.Keys(empty))
}

// idleScalers names the autoscalers that do not find what they scale. Metrics
// they have none here.
func (i installed) idleScalers() (problems []string) {
	type scaler struct {
		manifestHead
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	for _, s := range rowsOf[scaler](i, "/apis/autoscaling/v2", "horizontalpodautoscalers") {
		able := false
		for _, c := range s.Status.Conditions {
			able = able || c.Type == "AbleToScale" && c.Status == "True"
		}
		if !able {
			problems = append(problems, fmt.Sprintf("the autoscaler %s cannot scale: %v", s.Metadata.Name, s.Status.Conditions))
		}
	}
	return problems
}

// A preflight that fails leaves nothing running, says so, and does not stand in
// the way of the next attempt.
func testFailedPreflight(t *testing.T, k kubernetes) {
	i := k.release(t, "preflight", valuesOf("minimal"))
	i.node.EndJobs(cluster.Failed)
	args := append([]string{"install"}, i.changing("preflight.retries=0")...)
	out, complaint, err := helm.both(t.Context(), "", k.in(t, i.namespace, args)...)
	if err == nil || !strings.Contains(complaint, "preflight") {
		t.Fatalf("helm install with a failing preflight: %v\n%s%s", err, out, complaint)
	}
	if made := rowsOf[manifestHead](i, "/apis/apps/v1", "deployments"); len(made) > 0 {
		t.Errorf("deployments were made all the same: %v", made)
	}
	i.node.EndJobs(cluster.Succeeded)
	i.helm("upgrade", append(i.changing(), "--install")...)
	i.lookAround(i.manifests())
}
