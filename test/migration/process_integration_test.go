//go:build integration

package migration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/seal"
)

// A process is this test binary once more, told by its environment what to import.
const (
	envURI      = "MIGRATION_MONGODB_URI"
	envDatabase = "MIGRATION_DATABASE"
	envKeys     = "MIGRATION_KEYS"
	envWeCom    = "MIGRATION_WECOM"
	envOwner    = "MIGRATION_OWNER"
)

// exitBusy is a process's end when another one is at the import.
const exitBusy = 3

// lease is short, so that what was killed is gone on with within the test.
const lease = 2 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv(envOwner) != "" {
		os.Exit(process())
	}
	os.Exit(m.Run())
}

// process imports the company and returns the exit code.
func process() int {
	ctx := context.Background()
	db, err := open(os.Getenv(envURI), os.Getenv(envDatabase), os.Getenv(envKeys))
	if err == nil {
		err = importInto(ctx, db, os.Getenv(envWeCom), os.Getenv(envOwner))
	}
	if _, busy := errors.AsType[*adoption.BusyError](err); busy {
		return exitBusy
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func open(uri, database, keys string) (*mongostore.Database, error) {
	ring, err := seal.ParseKeys(keys)
	if err != nil {
		return nil, err
	}
	return mongostore.Open(mongostore.Options{URI: uri, Database: database, Timeout: 20 * time.Second, Keys: ring})
}

func importInto(ctx context.Context, db *mongostore.Database, base, owner string) error {
	endpoint, err := wecom.NewEndpoint(wecom.EndpointOptions{BaseURL: base, Timeout: time.Second})
	if err != nil {
		return err
	}
	tokens := wecom.NewTokens(endpoint, credentials{db}, wecom.TokensOptions{})
	defer tokens.Close()
	importer := adoption.New(adoption.Ports{
		Vendor: wecom.NewVendor(wecom.NewClient(endpoint, tokens), wecom.VendorOptions{Open: 200 * time.Millisecond}),
		Jobs:   db.Imports(), Facts: db.Adoptions(), FanOuts: db.FanOuts(), Observer: unseen{},
		Announcer: publish.New(deaf{}, db.Dirty(), publish.Options{Timeout: time.Second, Now: time.Now}),
	}, adoption.Options{
		Owner: owner, Rate: 400, Lease: lease, Margin: 200 * time.Millisecond,
		Retry: 20 * time.Millisecond, RetryMost: 200 * time.Millisecond, Blocked: 300 * time.Millisecond,
	})
	_, err = importer.Import(ctx, tenant, adoption.IntoShadow)
	return err
}

type credentials struct{ db *mongostore.Database }

func (c credentials) Credentials(ctx context.Context, tenant string) (string, wecom.Secret, error) {
	corpID, secret, err := c.db.Credentials(ctx, tenant)
	return corpID, wecom.NewSecret(secret), err
}

// deaf is a broker that takes nothing: what is announced is in the dirty set,
// where it can be looked at.
type deaf struct{}

func (deaf) Publish(context.Context, push.Ref, string, time.Time) error {
	return errors.New(http.StatusText(http.StatusServiceUnavailable))
}

type unseen struct{}

func (unseen) Progressed(adoption.Job)              {}
func (unseen) Waits(adoption.Job, time.Time, error) {}
