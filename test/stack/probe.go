package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// probeTimeout bounds one question to a server; the broker's health check
// produces and consumes a message.
const probeTimeout = 5 * time.Second

// probePulsar succeeds when the broker moves messages and serves topics of the
// default namespace, which standalone creates after it is healthy.
func probePulsar(ctx context.Context, adminURL string) error {
	adminURL = strings.TrimRight(adminURL, "/")
	for _, path := range []string{
		"/admin/v2/brokers/health",
		"/admin/v2/namespaces/public/default",
		"/lookup/v2/topic/persistent/public/default/stack-probe",
	} {
		if err := expectOK(ctx, adminURL, path); err != nil {
			return err
		}
	}
	return nil
}

// expectOK asks for one page. Its errors leave out the URL, which may carry a
// password.
func expectOK(ctx context.Context, base, path string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, http.NoBody)
	if err != nil {
		return errors.New("GET " + path + ": the address is not a URL")
	}
	request.Close = true // a probe leaves no idle connection behind
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, withoutURL(err))
	}
	_, err = io.Copy(io.Discard, response.Body)
	err = errors.Join(err, response.Body.Close())
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// withoutURL takes the cause out of the error of an HTTP client.
func withoutURL(err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return err
}

// probeMongo succeeds when the driver reaches a server that takes writes.
func probeMongo(ctx context.Context, uri string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(probeTimeout))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	err = client.Ping(ctx, readpref.Primary())
	if err != nil {
		err = fmt.Errorf("ping: %w", err)
	}
	return errors.Join(err, client.Disconnect(context.WithoutCancel(ctx)))
}

// probeRedis succeeds when Redis answers a PING.
func probeRedis(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	opts, err := redis.ParseURL(url)
	if err != nil {
		return errors.New("the address is not a Redis URL")
	}
	// The client logs a failed dial by itself, so find out first.
	if err := dial(ctx, opts.Network, opts.Addr); err != nil {
		return err
	}
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	client := redis.NewClient(opts)
	err = client.Ping(ctx).Err()
	if err != nil {
		err = fmt.Errorf("PING: %w", err)
	}
	return errors.Join(err, client.Close())
}

func dial(ctx context.Context, network, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}
