package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// openMongo prepares the connections to MongoDB; the server may be away.
func openMongo(cfg config.Config, role string) (*mongostore.Database, error) {
	return mongostore.Open(mongostore.Options{
		URI:            cfg.MongoDB.URI.Reveal(),
		TLS:            tlsfile.Files{CA: cfg.MongoDB.TLSCAFile, Cert: cfg.MongoDB.TLSCertFile, Key: cfg.MongoDB.TLSKeyFile},
		Database:       cfg.MongoDB.Database,
		AppName:        "rollcall-" + role,
		ConnectTimeout: cfg.MongoDB.ConnectTimeout,
		Timeout:        cfg.MongoDB.Timeout,
		MaxPoolSize:    uint64(cfg.MongoDB.MaxPool),
		MinPoolSize:    uint64(cfg.MongoDB.MinPool),
		Keys:           cfg.Seal.Keys.Ring(),
	})
}

// openRedis prepares the connections to Redis; the server may be away.
func openRedis(cfg config.Redis, tel *telemetry.Telemetry) (redis.UniversalClient, error) {
	opts, err := redis.ParseURL(cfg.URL.Reveal())
	if err != nil {
		return nil, errors.New("ROLLCALL_REDIS_URL is not a Redis URL") // err repeats the URL, password included
	}
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout = cfg.Timeout, cfg.Timeout, cfg.Timeout
	opts.ContextTimeoutEnabled = true
	opts.PoolSize = cfg.MaxPool
	opts.MaxRetries = -1 // a script is not repeated blindly; its caller knows what a failure means
	if files := (tlsfile.Files{CA: cfg.TLSCAFile, Cert: cfg.TLSCertFile, Key: cfg.TLSKeyFile}); files.Given() {
		if opts.Dialer, err = tlsDialer(files, opts.TLSConfig, cfg.Timeout); err != nil {
			return nil, fmt.Errorf("TLS to Redis: %w", err)
		}
	}
	client := redis.NewClient(opts)
	if err := redisotel.InstrumentTracing(client, redisotel.WithTracerProvider(tel.Tracers), redisotel.WithDBStatement(false)); err != nil {
		return nil, fmt.Errorf("trace Redis: %w", err)
	}
	return client, nil
}

// tlsDialer connects with the files as they are at that time; base is what the
// URL asks for. Files that cannot be used are an error at once.
func tlsDialer(files tlsfile.Files, base *tls.Config, timeout time.Duration) (func(ctx context.Context, network, addr string) (net.Conn, error), error) {
	if _, err := files.Config(); err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: timeout, KeepAlive: 5 * time.Minute}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		config, err := files.Config()
		if err != nil {
			return nil, err
		}
		if base != nil {
			config.ServerName = base.ServerName
		}
		return (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext(ctx, network, addr)
	}, nil
}

// token returns how to get the broker's token; nil when none is configured.
func token(cfg config.Pulsar) func() (string, error) {
	switch {
	case cfg.OAuth2IssuerURL != "":
		return pulsarbus.NewIssuedToken(pulsarbus.IssuerOptions{
			URL: cfg.OAuth2IssuerURL, Audience: cfg.OAuth2Audience, Scope: cfg.OAuth2Scope,
			ClientID: cfg.OAuth2ClientID, KeyFile: cfg.OAuth2KeyFile, Timeout: cfg.OperationTimeout,
		}).Token
	case cfg.Token.Set():
		return func() (string, error) { return cfg.Token.Reveal(), nil }
	case cfg.TokenFile != "":
		return func() (string, error) {
			text, err := os.ReadFile(cfg.TokenFile)
			if err != nil {
				return "", fmt.Errorf("read the broker's token: %w", err)
			}
			return strings.TrimSpace(string(text)), nil
		}
	}
	return nil
}

func busOptions(cfg config.Config, joins <-chan struct{}, tel *telemetry.Telemetry) pulsarbus.Options {
	var o pulsarbus.Options
	o.URL = cfg.Pulsar.URL
	o.Topic = cfg.Pulsar.Topic
	o.Subscription = cfg.Pulsar.Subscription
	o.Name = cfg.Refresher.Instance
	o.DeadLetterTopic = cfg.Pulsar.DeadLetterTopic
	o.Token = token(cfg.Pulsar)
	o.TrustCertsFile = cfg.Pulsar.TLSCAFile
	o.CertFile, o.KeyFile = cfg.Pulsar.TLSCertFile, cfg.Pulsar.TLSKeyFile
	o.ConnectionTimeout = cfg.Pulsar.ConnectTimeout
	o.OperationTimeout = cfg.Pulsar.OperationTimeout
	o.ReceiverQueueSize = cfg.Pulsar.ReceiverQueue
	o.Joins = joins
	o.Logger = tel.Log
	o.Registerer = tel.Registerer
	return o
}

// openAdmin prepares the calls of the broker's admin API, with the same
// credentials and certificates as the connections to the broker.
func openAdmin(cfg config.Pulsar) (*pulsarbus.Admin, error) {
	return pulsarbus.NewAdmin(pulsarbus.AdminOptions{
		URL: cfg.AdminURL, Token: token(cfg), TrustCertsFile: cfg.TLSCAFile,
		CertFile: cfg.TLSCertFile, KeyFile: cfg.TLSKeyFile, Timeout: cfg.OperationTimeout,
	})
}

// withMongo gives a command a connection to MongoDB of its own.
func withMongo(ctx context.Context, cfg config.Config, do func(*mongostore.Database) error) error {
	db, err := openMongo(cfg, "operator")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }() // the process ends with the command
	return do(db)
}

// closers are run last to first; they end what was opened.
type closers []func(context.Context) error

func (c *closers) add(f func(context.Context) error) { *c = append(*c, f) }

// close runs them all, within the time given even when ctx has ended.
func (c *closers) close(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	var failed []error
	for i := len(*c) - 1; i >= 0; i-- {
		failed = append(failed, (*c)[i](ctx))
	}
	return errors.Join(failed...)
}
