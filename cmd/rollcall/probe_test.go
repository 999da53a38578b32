package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	release := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "ready\nmongodb ok") })
	mux.HandleFunc("/created", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
	mux.HandleFunc("/unready", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "mongodb: away", http.StatusServiceUnavailable)
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ready", http.StatusFound) })
	mux.HandleFunc("/hangs", func(http.ResponseWriter, *http.Request) { <-release })
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, strings.Repeat("line\n", 2*probeLines), strings.Repeat("x", 100_000))
	})
	mux.HandleFunc("/wide", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, strings.Repeat("x", 100_000)) })
	mux.HandleFunc("/escapes", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "\x1b[2J") })
	server := httptest.NewServer(mux)
	defer server.Close()
	defer close(release)
	for _, tc := range []struct {
		line   string
		code   int
		screen string
		errors string
	}{
		{server.URL + "/ready", exitOK, "200 OK\nready\nmongodb ok\n", ""},
		{server.URL + "/created", exitOK, "201 Created\n", ""},
		{server.URL + "/unready", exitFailure, "503 Service Unavailable\nmongodb: away\n", "the answer is 503"},
		{server.URL + "/moved", exitFailure, "302 Found\n", "the answer is 302"},
		{server.URL + "/hangs --timeout 50ms", exitFailure, "", "no answer: context deadline exceeded"},
		{"http://user:hunter2@127.0.0.1:1/", exitFailure, "", "no answer: dial tcp"},
		{server.URL + "/long", exitOK, "200 OK\n" + strings.Repeat("line\n", probeLines), ""},
		{server.URL + "/wide", exitOK, "200 OK\n" + strings.Repeat("x", probeBytes) + "\n", ""},
		{server.URL + "/escapes", exitOK, "200 OK\n\"\\x1b[2J\"\n", ""},
		{"localhost:9090/readyz", exitUsage, "", "no http or https URL"},
		{"http://x --timeout 1ms", exitUsage, "", "--timeout is 1ms"},
		{"", exitUsage, "", "accepts 1 arg(s)"},
	} {
		var out, complaint strings.Builder
		code := run(t.Context(), append([]string{"probe"}, strings.Fields(tc.line)...), &out, &complaint)
		if code != tc.code || !strings.Contains(complaint.String(), tc.errors) || strings.Contains(complaint.String(), "hunter2") {
			t.Errorf("probe %s: exit %d, %q; want %d with %q", tc.line, code, complaint.String(), tc.code, tc.errors)
		}
		shown := out.String()
		if strings.HasPrefix(tc.screen, "302") {
			shown, _, _ = strings.Cut(shown, "<a")
		}
		if shown != tc.screen {
			t.Errorf("probe %s shows %.200q; want %.200q", tc.line, shown, tc.screen)
		}
	}
}
