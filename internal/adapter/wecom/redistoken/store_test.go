package redistoken_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom/redistoken"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom/tokenstoretest"
)

var (
	key      = bytes.Repeat([]byte{7}, 32)
	otherKey = bytes.Repeat([]byte{8}, 32)
)

func TestConformance(t *testing.T) {
	for name, options := range map[string]redistoken.Options{
		"sealed":   {Key: key},
		"in clear": {},
	} {
		t.Run(name, func(t *testing.T) {
			tokenstoretest.Run(t, func(t *testing.T) tokenstoretest.Fixture {
				server := newServer(t)
				return tokenstoretest.Fixture{
					Store:   server.store(t, options),
					Now:     func() time.Time { return server.now },
					Advance: server.advance,
				}
			})
		})
	}
}

func TestSealing(t *testing.T) {
	const token = "an-access-token"
	for _, test := range []struct {
		name       string
		put, get   redistoken.Options
		inClear    bool // the token can be read in Redis
		found      bool
		afterwards func(*testing.T, *server)
	}{
		{name: "under the same key", put: redistoken.Options{Key: key}, get: redistoken.Options{Key: key}, found: true},
		{name: "without a key", inClear: true, found: true},
		{name: "under another key it is absent", put: redistoken.Options{Key: key}, get: redistoken.Options{Key: otherKey}},
		{name: "a sealed one is absent without the key", put: redistoken.Options{Key: key}},
		{name: "one in clear is not trusted with a key", get: redistoken.Options{Key: key}, inClear: true},
		{
			name: "moved to another key of Redis it is absent",
			put:  redistoken.Options{Key: key}, get: redistoken.Options{Key: key},
			afterwards: func(t *testing.T, s *server) {
				raw, err := s.mini.Get("rollcall:wecom:token:a")
				if err != nil {
					t.Fatal(err)
				}
				if err := s.mini.Set("rollcall:wecom:token:b", raw); err != nil {
					t.Fatal(err)
				}
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := newServer(t)
			put := wecom.Token{Value: wecom.NewSecret(token), Expires: server.now.Add(time.Hour)}
			if err := server.store(t, test.put).Put(t.Context(), "a", put); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(server.mini.Dump(), token); got != test.inClear {
				t.Errorf("the token can be read in Redis: %t, want %t", got, test.inClear)
			}
			read := "a"
			if test.afterwards != nil {
				test.afterwards(t, server)
				read = "b"
			}
			got, found, err := server.store(t, test.get).Get(t.Context(), read)
			if err != nil || found != test.found {
				t.Fatalf("found %t (%v), want %t", found, err, test.found)
			}
			if found && got.Value.Reveal() != token {
				t.Errorf("got %q", got.Value.Reveal())
			}
		})
	}
}

func TestKeyOfTheWrongSize(t *testing.T) {
	if _, err := redistoken.New(nil, redistoken.Options{Key: []byte("short")}); err == nil {
		t.Fatal("accepted")
	} else if strings.Contains(err.Error(), "short") {
		t.Errorf("the key is in the error: %v", err)
	}
}

func TestRedisGone(t *testing.T) {
	server := newServer(t)
	store := server.store(t, redistoken.Options{Key: key})
	lease, err := store.Lease(t.Context(), "a", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	server.mini.Close()
	ctx := t.Context()
	for name, run := range map[string]func() error{
		"get":        func() error { _, _, err := store.Get(ctx, "a"); return err },
		"put":        func() error { return store.Put(ctx, "a", wecom.Token{Value: wecom.NewSecret("hidden-token")}) },
		"invalidate": func() error { return store.Invalidate(ctx, "a", wecom.NewSecret("hidden-token")) },
		"lease":      func() error { _, err := store.Lease(ctx, "a", time.Minute); return err },
		"release":    func() error { return lease.Release(ctx) },
		"refusal":    func() error { _, _, err := store.Refusal(ctx, "a"); return err },
		"put_refusal": func() error {
			return store.PutRefusal(ctx, "a", wecom.Refusal{}, time.Minute)
		},
		"drop_refusal": func() error { return store.DropRefusal(ctx, "a") },
	} {
		err := run()
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "hidden-token") {
			t.Errorf("%s: the token is in the error: %v", name, err)
		}
	}
}

// What is not a sealed token is no token, and never a crash.
func TestSealedIsDamaged(t *testing.T) {
	server := newServer(t)
	store := server.store(t, redistoken.Options{Key: key})
	for _, raw := range []string{"", "s", "sshort", "s" + strings.Repeat("x", 100), "x", "c{}", "c"} {
		if err := server.mini.Set("rollcall:wecom:token:a", raw); err != nil {
			t.Fatal(err)
		}
		if _, found, err := store.Get(t.Context(), "a"); found || err != nil {
			t.Errorf("%q: found %t, %v", raw, found, err)
		}
	}
}

// A refusal that cannot be read must not look like "none": the account would
// be tried again at once.
func TestRefusalThatCannotBeDecoded(t *testing.T) {
	server := newServer(t)
	if err := server.mini.Set("rollcall:wecom:refusal:a", "{"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := server.store(t, redistoken.Options{}).Refusal(t.Context(), "a"); err == nil {
		t.Fatal("no error")
	}
}

// server is a Redis whose clock stands still until it is advanced.
type server struct {
	mini *miniredis.Miniredis
	now  time.Time
}

func newServer(t *testing.T) *server {
	s := &server{mini: miniredis.RunT(t), now: time.Now()}
	s.mini.SetTime(s.now)
	return s
}

func (s *server) advance(d time.Duration) {
	s.now = s.now.Add(d)
	s.mini.SetTime(s.now)
	s.mini.FastForward(d)
}

func (s *server) store(t *testing.T, options redistoken.Options) *redistoken.Store {
	t.Helper()
	client := redis.NewClient(&redis.Options{
		Addr: s.mini.Addr(), MaxRetries: -1, DialerRetries: 1, DialTimeout: time.Second,
		ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { _ = client.Close() })
	store, err := redistoken.New(client, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(context.WithoutCancel(t.Context())).Err(); err != nil {
		t.Fatal(err)
	}
	return store
}
