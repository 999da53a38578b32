//go:build unix

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Node stands in for the machines that pods run on, in one namespace: a pod
// whose configuration exists runs and is ready, one of a Job or a test ends, and
// one that is asked to go is gone.
// A pod that names a Secret, a ConfigMap or a key that does not exist waits, as
// it would on a real machine.
type Node struct {
	cluster   *Cluster
	namespace string
	stop      context.CancelFunc
	done      chan struct{} // closed when Run has ended

	mu      sync.Mutex
	ends    string            // phase of pods that end
	address int               // of the newest pod, in its network
	waiting map[string]string // pod -> what it waits for
	ran     map[string]bool   // "<owner kind>/<app.kubernetes.io/component>"
}

// The phases of a pod that ended.
const (
	Succeeded = "Succeeded"
	Failed    = "Failed"
)

// machine is the name of the one that all pods run on.
const machine = "machine"

const lookEvery = 150 * time.Millisecond

// StartNode runs pods of the namespace until Stop.
func (c *Cluster) StartNode(ctx context.Context, namespace string) *Node {
	ctx, stop := context.WithCancel(ctx)
	n := &Node{
		cluster: c, namespace: namespace, stop: stop, done: make(chan struct{}),
		ends: Succeeded, waiting: map[string]string{}, ran: map[string]bool{},
	}
	go n.run(ctx)
	return n
}

// Stop returns when the node does nothing any more.
func (n *Node) Stop() {
	n.stop()
	<-n.done
}

// EndJobs says how pods of Jobs and tests end from now on.
func (n *Node) EndJobs(phase string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ends = phase
}

// Waiting says which pods wait for what.
func (n *Node) Waiting() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := make([]string, 0, len(n.waiting))
	for _, pod := range slices.Sorted(maps.Keys(n.waiting)) {
		lines = append(lines, pod+" waits for "+n.waiting[pod])
	}
	return lines
}

// Ran lists the pods that ran or ended, as "<kind of the owner>/<component>".
func (n *Node) Ran() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.ran))
}

func (n *Node) run(ctx context.Context) {
	defer close(n.done)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	// Endpoints are those of pods on a machine that exists.
	_ = n.cluster.Create(ctx, "/api/v1/nodes", map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": machine},
	})
	for {
		// What went wrong is tried again at the next look; a pod that changed
		// or went away in between is no matter.
		_ = n.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (n *Node) look(ctx context.Context) error {
	var pods struct{ Items []pod }
	if err := n.cluster.Get(ctx, n.path("pods"), &pods); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.waiting)
	for _, p := range pods.Items {
		if p.Metadata.DeletionTimestamp != "" {
			_ = n.cluster.remove(ctx, n.path("pods/"+p.Metadata.Name)) // gone already, or at the next look
			continue
		}
		if p.Status.Phase != "Pending" {
			continue
		}
		missing, err := n.missing(ctx, p)
		if err != nil {
			return err
		}
		if missing != "" {
			n.waiting[p.Metadata.Name] = missing
			continue
		}
		if err := n.begin(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// begin lets the pod run, or end at once.
func (n *Node) begin(ctx context.Context, p pod) error {
	n.address++
	address := fmt.Sprintf("10.1.%d.%d", n.address/250, n.address%250+1)
	now := time.Now().UTC().Format(time.RFC3339)
	type fields = map[string]any
	condition := func(name, status string) fields {
		return fields{"type": name, "status": status, "lastTransitionTime": now}
	}
	phase, ready := "Running", "True"
	if p.ends() {
		phase, ready = n.ends, "False"
	}
	if p.Spec.NodeName == "" {
		err := n.cluster.Create(ctx, n.path("pods/"+p.Metadata.Name+"/binding"), fields{
			"apiVersion": "v1", "kind": "Binding", "metadata": fields{"name": p.Metadata.Name},
			"target": fields{"kind": "Node", "name": machine},
		})
		if err != nil {
			return err
		}
	}
	err := n.cluster.Merge(ctx, n.path("pods/"+p.Metadata.Name+"/status"), fields{"status": fields{
		"phase": phase, "podIP": address, "podIPs": []any{fields{"ip": address}}, "startTime": now,
		"conditions": []any{
			condition("PodScheduled", "True"), condition("Initialized", "True"),
			condition("ContainersReady", ready), condition("Ready", ready),
		},
	}})
	if err != nil {
		return err
	}
	n.ran[p.owner()+"/"+p.Metadata.Labels["app.kubernetes.io/component"]] = true
	return nil
}

// missing names what the pod needs and the namespace has not; "" for nothing.
func (n *Node) missing(ctx context.Context, p pod) (string, error) {
	for _, need := range p.needs() {
		var found struct {
			Data, BinaryData map[string]any
		}
		err := n.cluster.Get(ctx, n.path(need.Collection+"/"+need.Name), &found)
		switch {
		case errors.Is(err, ErrNotFound):
			return need.String(), nil
		case err != nil:
			return "", err
		}
		_, text := found.Data[need.Key]
		_, binary := found.BinaryData[need.Key]
		if need.Key != "" && !text && !binary {
			return need.String(), nil
		}
	}
	return "", nil
}

func (n *Node) path(rest string) string { return "/api/v1/namespaces/" + n.namespace + "/" + rest }
