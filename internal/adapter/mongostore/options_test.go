package mongostore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

func TestOpenRefusesWithoutLeaking(t *testing.T) {
	const password = "hunter2secret"
	tests := map[string]Options{
		"no URI":             {},
		"not a URI":          {URI: "postgres://app:" + password + "@db:1"},
		"unescaped password": {URI: "mongodb://app:" + password + "%zz@db"},
		"bad host":           {URI: "mongodb://app:" + password + "@db:port"},
		"password in option": {URI: "mongodb://db/?tls=" + password},
		"bad option":         {URI: "mongodb://app:" + password + "@db/?retryWrites=perhaps"},
		"timeout too short":  {URI: "mongodb://app:" + password + "@db", Timeout: time.Millisecond},
		"timeout too long":   {URI: "mongodb://app:" + password + "@db", Timeout: time.Hour},
		"more idle than all": {URI: "mongodb://app:" + password + "@db", MinPoolSize: 101},
		"pool too small":     {URI: "mongodb://app:" + password + "@db", MaxPoolSize: 3},
		"pool too large":     {URI: "mongodb://app:" + password + "@db", MaxPoolSize: 10_001},
	}
	for name, opts := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Open(opts)
			if err == nil {
				t.Fatal("Open accepted it")
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), password) {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

// No URI weakens what the protocol rests on.
func TestOptionsOutrankTheURI(t *testing.T) {
	opts := Options{
		URI: "mongodb://db/?readPreference=secondary&w=1&retryWrites=false&retryReads=false&readConcernLevel=available&timeoutMS=0",
	}.withDefaults()
	c, err := opts.client()
	if err != nil {
		t.Fatalf("client options: %v", err)
	}
	if c.ReadPreference.Mode() != readpref.PrimaryMode {
		t.Errorf("read preference %v", c.ReadPreference)
	}
	if c.WriteConcern.W != "majority" || c.ReadConcern.Level != "local" {
		t.Errorf("write concern %v, read concern %v", c.WriteConcern.W, c.ReadConcern.Level)
	}
	if !*c.RetryReads || !*c.RetryWrites {
		t.Error("reads or writes are not retried")
	}
	if *c.Timeout != DefaultTimeout || *c.MaxPoolSize != DefaultMaxPoolSize || *c.AppName != DefaultAppName {
		t.Errorf("timeout %v, pool %d, app %q", *c.Timeout, *c.MaxPoolSize, *c.AppName)
	}
}

func TestCredentialsDoNotPrint(t *testing.T) {
	doc := credentialsDoc{Tenant: "acme", CorpID: "ww1", Secret: "hunter2secret"}
	if s := fmt.Sprintf("%v %+v %#v %s", doc, doc, doc, doc); strings.Contains(s, doc.Secret) {
		t.Errorf("the secret prints: %s", s)
	}
}
