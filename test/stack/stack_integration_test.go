//go:build integration

package stack

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// The stack itself, with the real servers, beside the one that the other
// integration tests run on.
func TestRealServersKeepTheirPortsAndDataOverARestartAndLeaveNothing(t *testing.T) {
	s := startReal(t)
	createTopic(t, s.PulsarAdminURL)
	client := redisClient(t, s.RedisURL)
	if err := client.Set(t.Context(), "kept", "yes", 0).Err(); err != nil {
		t.Fatal(err)
	}

	for _, part := range s.Parts() {
		if err := part.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, status := range s.Status(t.Context()) {
		if status.Answer != nil || status.PID == 0 {
			t.Errorf("after the restart: %s %s", status.Part, status)
		}
	}
	if err := expectOK(t.Context(), s.PulsarAdminURL, topicPath+"/stats"); err != nil {
		t.Errorf("the broker forgot its topic: %v", err)
	}
	if got, err := client.Get(t.Context(), "kept").Result(); got != "yes" {
		t.Errorf("Redis forgot its key: %q, %v", got, err)
	}

	var servers []identity
	for _, part := range s.Parts() {
		servers = append(servers, part.proc.identity)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range servers {
		if id.running() {
			t.Errorf("process %d is left", id.PID)
		}
	}
	if exists(s.Dir()) {
		t.Errorf("the folder %s is left", s.Dir())
	}
}

const topicPath = "/admin/v2/persistent/public/default/kept"

// startReal starts the real servers, whatever servers the environment names.
func startReal(t *testing.T) *Stack {
	t.Helper()
	s, err := Start(t.Context(), Options{
		Getenv:   func(string) string { return "" },
		Progress: func(part, message string) { t.Log(part, message) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if exists(s.Dir()) { // the test did not come to its own Stop
			if err := s.Stop(ctx); err != nil {
				t.Errorf("clean up: %v", err)
			}
		}
	})
	return s
}

func createTopic(t *testing.T, adminURL string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, adminURL+topicPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusNoContent {
		t.Fatalf("create the topic: %s", response.Status)
	}
}

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opts)
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
	})
	return client
}
