package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

// api is the platform's way to Rollcall: whichever ingress is there.
type api struct {
	client    *http.Client
	token     string
	ingresses func() []string // their addresses; one may not answer yet, or no more
	next      atomic.Uint64
}

func newAPI(token string, ingresses func() []string) *api {
	return &api{token: token, ingresses: ingresses, client: &http.Client{
		Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
}

// attempts is how often a request is made before it counts as failed: one may
// meet an ingress that has just been killed.
const attempts = 4

var errNoIngress = errors.New("no ingress is there")

// call makes a request and reads an answer of 2xx; each attempt asks another
// ingress. Every request of the platform may be repeated.
func (a *api) call(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	err := errNoIngress
	first := int(a.next.Add(1))
	for attempt := range attempts {
		if attempt > 0 && !sleep(ctx, 50*time.Millisecond) {
			break
		}
		addresses := a.ingresses()
		if len(addresses) == 0 {
			break
		}
		at := addresses[(first+attempt)%len(addresses)]
		var answer []byte
		if answer, err = a.try(ctx, method, at+path, contentType, body); err == nil {
			return answer, nil
		}
		if refused, ok := errors.AsType[*refusal](err); ok && !refused.passing() {
			break
		}
	}
	return nil, fmt.Errorf("%s %s: %w", method, path, err)
}

// refusal is an answer that no repeat makes better.
type refusal struct {
	status int
	body   string
}

// passing reports that it may be otherwise at once: the stand-in for MongoDB
// does not find a document for a moment while somebody else changes it.
func (r *refusal) passing() bool { return r.status == http.StatusNotFound }

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.body) }

func (a *api) try(ctx context.Context, method, target, contentType string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", contentType)
	resp, err := a.client.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode >= http.StatusInternalServerError:
		return nil, fmt.Errorf("status %d: %s", resp.StatusCode, answer)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return nil, &refusal{resp.StatusCode, string(answer)}
	}
	return answer, nil
}

func (a *api) put(ctx context.Context, path string, facts any) error {
	body, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	_, err = a.call(ctx, http.MethodPut, path, "application/json", body)
	return err
}

// load sends many facts, a line each, and fails when one is refused.
func (a *api) load(ctx context.Context, path string, lines []any) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	for _, line := range lines {
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	answer, err := a.call(ctx, http.MethodPost, path, "application/x-ndjson", body.Bytes())
	if err != nil {
		return err
	}
	var got struct{ Refused int }
	if err := json.Unmarshal(answer, &got); err != nil {
		return fmt.Errorf("POST %s: %w", path, err)
	}
	if got.Refused > 0 {
		return fmt.Errorf("POST %s: %d lines were refused: %s", path, got.Refused, answer)
	}
	return nil
}

// Draw asks for the next customer's member, as a landing page does.
func (a *api) Draw(ctx context.Context, target wecomsim.Target) (string, error) {
	answer, err := a.call(ctx, http.MethodPost, "/v1/draw/"+target.State, "application/json", nil)
	if err != nil {
		return "", err
	}
	var drawn struct{ Staff string }
	if err := json.Unmarshal(answer, &drawn); err != nil || drawn.Staff == "" {
		return "", fmt.Errorf("draw: the answer names nobody: %w", err)
	}
	return drawn.Staff, nil
}

// The facts as the API takes them (docs/api.md).
type (
	tenantFacts struct {
		TimeZone   string `json:"time_zone,omitempty"`
		DailyTotal int    `json:"daily_total,omitempty"`
	}
	staffFacts struct {
		Staff    string         `json:"staff"`
		Presence string         `json:"presence,omitempty"`
		Schedule *scheduleFacts `json:"schedule,omitempty"`
	}
	scheduleFacts struct {
		TimeZone string        `json:"time_zone,omitempty"`
		Weekly   [][]shiftFact `json:"weekly"`
	}
	shiftFact struct {
		From int `json:"from"`
		To   int `json:"to"`
	}
	codeFacts struct {
		Code     string          `json:"code,omitempty"`
		ConfigID string          `json:"config_id"`
		Family   string          `json:"family"`
		Members  []memberFact    `json:"members"`
		Backups  []string        `json:"backups,omitempty"`
		Switches map[string]bool `json:"switches"`
		OnEmpty  string          `json:"on_empty,omitempty"`
		State    string          `json:"state"`
	}
	memberFact struct {
		Staff      string `json:"staff"`
		AddLimit   int    `json:"add_limit,omitempty"`
		DailyLimit int    `json:"daily_limit,omitempty"`
		RoundLimit int    `json:"round_limit,omitempty"`
	}
)

func factsOfStaff(s roster.Staff) staffFacts {
	f := staffFacts{Staff: s.ID, Presence: string(s.Presence)}
	if s.Schedule != nil {
		f.Schedule = &scheduleFacts{TimeZone: s.Schedule.TimeZone}
		for _, shifts := range s.Schedule.Weekly {
			day := []shiftFact{}
			for _, shift := range shifts {
				day = append(day, shiftFact(shift))
			}
			f.Schedule.Weekly = append(f.Schedule.Weekly, day)
		}
	}
	return f
}

func factsOfCode(c roster.Code) codeFacts {
	f := codeFacts{
		ConfigID: c.ConfigID, Family: string(c.Family), Members: []memberFact{}, Backups: c.Backups, OnEmpty: string(c.OnEmpty), State: c.State,
		Switches: map[string]bool{
			"offline_check": c.Switches.OfflineCheck, "add_limit": c.Switches.AddLimit,
			"daily_limit": c.Switches.DailyLimit, "round_limit": c.Switches.RoundLimit,
		},
	}
	for _, m := range c.Members {
		f.Members = append(f.Members, memberFact(m))
	}
	return f
}

// putWorld stores a tenant with its staff and codes, in this order: a fact does
// not name what is not there.
func (a *api) putWorld(ctx context.Context, p tenantPlan, credentials, callback any) error {
	base := "/v1/tenants/" + p.tenant.ID
	staff, codes := make([]any, 0, len(p.staff)), make([]any, 0, len(p.codes))
	for _, s := range p.staff {
		staff = append(staff, factsOfStaff(s))
	}
	for _, c := range p.codes {
		f := factsOfCode(c)
		f.Code = c.ID
		codes = append(codes, f)
	}
	return errors.Join(
		a.put(ctx, base, tenantFacts{TimeZone: p.tenant.TimeZone, DailyTotal: p.tenant.DailyTotal}),
		a.put(ctx, base+"/credentials", credentials),
		a.put(ctx, base+"/callback", callback),
		a.load(ctx, base+"/imports/staff", staff),
		a.load(ctx, base+"/imports/codes", codes),
	)
}

// pathOf joins escaped segments.
func pathOf(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString("/" + url.PathEscape(s))
	}
	return b.String()
}
