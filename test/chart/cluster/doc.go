// Package cluster runs a Kubernetes of its own on this machine: etcd, the API
// server and the controllers, without nodes.
//
// It owns their processes, ports, keys and data, all in one folder, and stops
// exactly what it started. Instead of nodes it has [Node], which says of pods
// that they run when all that they name exists. It refuses to own what is
// installed, and to build the servers.
package cluster
