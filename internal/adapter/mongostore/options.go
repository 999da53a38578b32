package mongostore

import (
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile"
	"github.com/rollcall-dev/rollcall/internal/seal"
)

// Defaults of Options.
const (
	DefaultDatabase    = "rollcall"
	DefaultAppName     = "rollcall"
	DefaultTimeout     = 5 * time.Second
	DefaultMaxPoolSize = 100
)

// Options say where MongoDB is and how patient to be with it.
type Options struct {
	// URI is the connection string. It may hold a password: it is never logged
	// and appears in no error. Read preference, read concern, write concern
	// and retries are fixed by this package, whatever the URI says.
	URI string
	// TLS are the files for TLS; with any of them TLS is on and what the URI
	// says of it is overruled.
	TLS tlsfile.Files
	// Database is the database's name; "" is DefaultDatabase.
	Database string
	// AppName names the process in the server's log; "" is DefaultAppName.
	AppName string
	// Timeout bounds one operation from the choice of a server to its answer,
	// retries included, where the caller's context has no deadline of its
	// own: 100 ms to 1 min; 0 is DefaultTimeout.
	Timeout time.Duration
	// MaxPoolSize is the most connections to one server, 4 to 10 000; 0 is
	// DefaultMaxPoolSize. One Load uses four at a time.
	MaxPoolSize uint64
	// MinPoolSize is how many connections stay open while idle, at most
	// MaxPoolSize.
	MinPoolSize uint64
	// ConnectTimeout bounds one TCP and TLS handshake; 0 is DefaultTimeout.
	ConnectTimeout time.Duration
	// Now is the clock that picks the days to read and stamps the dirty set;
	// nil is time.Now.
	Now func() time.Time
	// Keys seal and open the secrets of tenants; nil, or a ring without a key,
	// reads those that are in clear and writes none.
	Keys *seal.Keyring
	// Monitor sees every command; nil is nobody. Commands hold facts and
	// credentials: it must not log them.
	Monitor *event.CommandMonitor
}

func (o Options) withDefaults() Options {
	if o.Database == "" {
		o.Database = DefaultDatabase
	}
	if o.AppName == "" {
		o.AppName = DefaultAppName
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = DefaultTimeout
	}
	if o.MaxPoolSize == 0 {
		o.MaxPoolSize = DefaultMaxPoolSize
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func (o Options) validate() error {
	if o.URI == "" {
		return errors.New("no MongoDB URI")
	}
	if o.Timeout < 100*time.Millisecond || o.Timeout > time.Minute {
		return fmt.Errorf("MongoDB timeout %s is not within 100ms and 1m", o.Timeout)
	}
	if o.MaxPoolSize < 4 || o.MaxPoolSize > 10_000 {
		return fmt.Errorf("MongoDB pool size %d is not within 4 and 10000", o.MaxPoolSize)
	}
	if o.MinPoolSize > o.MaxPoolSize {
		return fmt.Errorf("MongoDB keeps %d connections open, more than its pool of %d", o.MinPoolSize, o.MaxPoolSize)
	}
	return nil
}

// client turns the options into the driver's. What the protocol rests on is
// set after the URI, so that no URI weakens it.
func (o Options) client() (*options.ClientOptions, error) {
	c := options.Client().ApplyURI(o.URI).
		SetAppName(o.AppName).
		SetTimeout(o.Timeout).
		SetServerSelectionTimeout(o.Timeout).
		SetConnectTimeout(o.ConnectTimeout).
		SetMaxPoolSize(o.MaxPoolSize).
		SetMinPoolSize(o.MinPoolSize).
		SetReadPreference(readpref.Primary()).
		SetReadConcern(readconcern.Local()).
		SetWriteConcern(writeconcern.Majority()).
		SetRetryReads(true).
		SetRetryWrites(true)
	if o.Monitor != nil {
		c.SetMonitor(o.Monitor)
	}
	if o.TLS.Given() {
		config, err := o.TLS.Config()
		if err != nil {
			return nil, fmt.Errorf("TLS to MongoDB: %w", err)
		}
		c.SetTLSConfig(config)
	}
	if err := c.Validate(); err != nil {
		// The driver's words may quote the URI, and with it the password.
		return nil, errors.New("the MongoDB URI is not valid (its text is withheld: it may hold a password)")
	}
	return c, nil
}
