//go:build unix

package cluster

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rollcall-dev/rollcall/test/stack"
)

// Programs are the paths of the servers.
type Programs struct {
	Etcd              string
	APIServer         string
	ControllerManager string
}

// Cluster is a running Kubernetes without nodes.
type Cluster struct {
	dir     string
	url     string
	token   string
	client  *http.Client
	servers []*server // in the order they started
}

// The controllers that work on what a chart makes. No one makes volumes, and
// nobody schedules.
var controllers = []string{
	"deployment-controller", "replicaset-controller", "statefulset-controller", "job-controller", "cronjob-controller",
	"disruption-controller", "endpoints-controller", "endpointslice-controller", "horizontal-pod-autoscaler-controller",
	"serviceaccount-controller", "namespace-controller", "garbage-collector-controller",
}

// Start starts the servers with all that they write in dir, and returns when
// the API answers. A Cluster that could not start has stopped what it started.
func Start(ctx context.Context, dir string, programs Programs) (*Cluster, error) {
	c := &Cluster{dir: dir, token: rand.Text()}
	if err := c.start(ctx, programs); err != nil {
		c.Stop(context.WithoutCancel(ctx))
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, programs Programs) error {
	ports, err := stack.FreePorts(3)
	if err != nil {
		return err
	}
	if err := c.writeKeys(); err != nil {
		return err
	}
	etcd := "http://" + stack.Loopback(ports[0])
	if err := c.startEtcd(ctx, programs.Etcd, etcd, "http://"+stack.Loopback(ports[1])); err != nil {
		return err
	}
	if err := c.startAPI(ctx, programs.APIServer, etcd, ports[2]); err != nil {
		return err
	}
	return c.launch("kube-controller-manager", programs.ControllerManager,
		"--kubeconfig="+c.path("kubeconfig-default"),
		"--controllers="+strings.Join(controllers, ","),
		"--leader-elect=false",
		"--secure-port=0",
		"--service-account-private-key-file="+c.path("service-accounts.key"),
		"--horizontal-pod-autoscaler-sync-period=2s",
		"--kube-api-qps=200", "--kube-api-burst=400",
	)
}

func (c *Cluster) startEtcd(ctx context.Context, program, clients, peers string) error {
	err := c.launch("etcd", program,
		"--name=chart", "--data-dir="+c.path("etcd"),
		"--listen-client-urls="+clients, "--advertise-client-urls="+clients,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=chart="+peers,
		"--unsafe-no-fsync",
	)
	if err != nil {
		return err
	}
	return c.newest().await(ctx, func(ctx context.Context) error {
		return expectOK(ctx, http.DefaultClient, clients+"/health", "")
	})
}

func (c *Cluster) startAPI(ctx context.Context, program, etcd string, port int) error {
	c.url = "https://" + stack.Loopback(port)
	err := c.launch("kube-apiserver", program,
		"--etcd-servers="+etcd,
		"--bind-address=127.0.0.1", "--secure-port="+strconv.Itoa(port),
		"--endpoint-reconciler-type=none",
		"--cert-dir="+c.path("certificates"),
		"--token-auth-file="+c.path("tokens.csv"), "--authorization-mode=Node,RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.path("service-accounts.key"),
		"--service-account-signing-key-file="+c.path("service-accounts.key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--enable-priority-and-fairness=false",
		"--profiling=false",
	)
	if err != nil {
		return err
	}
	if err := c.newest().await(ctx, c.ready); err != nil {
		return err
	}
	_, err = c.KubeconfigFor("default")
	return err
}

// ready succeeds when the API serves. The server writes its certificate first.
func (c *Cluster) ready(ctx context.Context) error {
	if c.client == nil {
		certificates, err := os.ReadFile(c.certificate())
		if err != nil {
			return err
		}
		trusted := x509.NewCertPool()
		if !trusted.AppendCertsFromPEM(certificates) {
			return errors.New("the API server's certificate cannot be read")
		}
		c.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}}
	}
	return expectOK(ctx, c.client, c.url+"/readyz", c.token)
}

// Stop ends the servers, the newest first, and returns when they are gone.
// What they wrote stays in the folder.
func (c *Cluster) Stop(ctx context.Context) {
	for i := len(c.servers) - 1; i >= 0; i-- {
		c.servers[i].stop(ctx)
	}
	c.servers = nil
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) certificate() string { return filepath.Join(c.path("certificates"), "apiserver.crt") }

func (c *Cluster) newest() *server { return c.servers[len(c.servers)-1] }

func (c *Cluster) launch(name, program string, args ...string) error {
	s, err := launch(c.dir, name, program, args...)
	if err != nil {
		return err
	}
	c.servers = append(c.servers, s)
	return nil
}

// writeKeys makes the token of the one user and the key that signs those of
// service accounts.
func (c *Cluster) writeKeys() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("make the key of service accounts: %w", err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return errors.Join(
		os.WriteFile(c.path("service-accounts.key"), block, 0o600),
		os.WriteFile(c.path("tokens.csv"), []byte(c.token+",admin,admin,system:masters\n"), 0o600),
	)
}

// KubeconfigFor writes a file for kubectl and helm and returns its path: with all
// rights, and in a namespace where an object or a command names no other.
func (c *Cluster) KubeconfigFor(namespace string) (string, error) {
	type named = map[string]any
	text, err := json.Marshal(named{
		"apiVersion": "v1", "kind": "Config", "current-context": "chart",
		"clusters": []any{named{"name": "chart", "cluster": named{"server": c.url, "certificate-authority": c.certificate()}}},
		"users":    []any{named{"name": "admin", "user": named{"token": c.token}}},
		"contexts": []any{named{"name": "chart", "context": named{"cluster": "chart", "user": "admin", "namespace": namespace}}},
	})
	if err != nil {
		return "", fmt.Errorf("write the kubeconfig: %w", err)
	}
	path := c.path("kubeconfig-" + namespace)
	return path, os.WriteFile(path, text, 0o600)
}
