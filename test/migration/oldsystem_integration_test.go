//go:build integration

package migration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/pkg/oldpush"
)

// oldIP tells the old system's calls from Rollcall's.
const oldIP = "10.20.0.1"

// oldSystem pushes inline whenever a fact changes, as it has for years: two
// writers, of which one does not know the daily limits; now and then it pushes
// from a copy that is a moment old, or loses a push.
type oldSystem struct {
	*company
	rnd      *rand.Rand
	client   *http.Client
	token    string // WeCom's
	bearer   string // of Rollcall's API
	reporter *oldpush.Reporter
	pushes   atomic.Int64
}

// posting is one push.
type posting struct {
	*poster
	users []string
}

// faulty is the part of the old system's pushes that are made from an old copy,
// and the part that is lost.
const faulty = 0.06

// writers is how many of its pushes are under way at once.
const writers = 4

func newOldSystem(c *company, secret, bearer string) *oldSystem {
	o := &oldSystem{company: c, rnd: rand.New(rand.NewPCG(8, 8)), client: c.sim.Client(oldIP), bearer: bearer}
	var answer struct {
		Token string `json:"access_token"`
	}
	o.must(o.call(http.MethodGet, "/cgi-bin/gettoken?corpid="+corp+"&corpsecret="+url.QueryEscape(secret), nil, &answer))
	o.token = answer.Token
	var err error
	o.reporter, err = oldpush.New(oldpush.Options{URL: "http://" + c.cfg.Ingress.Addr, Token: func() string { return bearer }})
	o.must(err)
	return o
}

// run has the old system push until stop is called, which returns when its last
// push is made and reported.
func (o *oldSystem) run() (stop func()) {
	var ending sync.WaitGroup
	queues := make([]chan posting, writers)
	for i := range queues {
		queues[i] = make(chan posting, 10_000) // a fact's writer does not wait for its pushes
		ending.Go(func() {
			for p := range queues[i] {
				o.push(p)
			}
		})
	}
	var mu sync.Mutex
	stopped := false
	told := func(ch change) {
		mu.Lock()
		defer mu.Unlock()
		for _, t := range ch.touched {
			if users := o.list(ch.writer, t); users != nil && !stopped {
				queues[slot(t.id)] <- posting{t.poster, users}
			}
		}
	}
	o.told.Store(&told)
	return func() {
		o.told.Store(nil)
		mu.Lock()
		stopped = true
		mu.Unlock()
		for _, queue := range queues {
			close(queue)
		}
		ending.Wait()
	}
}

// slot keeps the pushes of a poster in their order.
func slot(id string) int { return int(id[len(id)-1]-'0') % writers }

// list is what one of its writers makes of a change; nil is a push that gets
// lost.
func (o *oldSystem) list(by writer, t consequence) []string {
	switch at := o.rnd.Float64(); {
	case at < faulty:
		return nil
	case at < 2*faulty:
		return t.before
	case by == attendance:
		return t.uncapped
	}
	return t.wanted
}

// push writes a list at WeCom and tells Rollcall's API. The instant is one after
// WeCom's answer: whoever reads the list from then on reads this one.
func (o *oldSystem) push(p posting) {
	body := map[string]any{"config_id": p.config, "user": p.users, "remark": p.id, "state": p.id}
	var answer struct {
		ErrCode int    `json:"errcode"`
		ErrMsg  string `json:"errmsg"`
	}
	err := o.call(http.MethodPost, "/cgi-bin/externalcontact/update_contact_way?access_token="+o.token, body, &answer)
	if err != nil || answer.ErrCode != 0 {
		o.Errorf("the old system pushes %s: %+v, %v", p.id, answer, err)
		return
	}
	at := time.Now()
	o.pushes.Add(1)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.Context()), 30*time.Second)
	defer cancel()
	err = o.reporter.Pushed(ctx, tenant, p.id, p.users, at)
	for ; passing(err) && ctx.Err() == nil; err = o.reporter.Pushed(ctx, tenant, p.id, p.users, at) {
	}
	if err != nil {
		o.Errorf("the old system reports %s: %v", p.id, err)
	}
}

// passing is an answer that is another one at once: the stand-in for MongoDB does
// not find a document for a moment while somebody else changes it.
func passing(err error) bool {
	status, is := errors.AsType[*oldpush.StatusError](err)
	return is && status.Status == http.StatusNotFound
}

func (o *oldSystem) call(method, path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(context.WithoutCancel(o.Context()), method, "http://wecom"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	response, err := o.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return fmt.Errorf("WeCom's answer %d: %w", response.StatusCode, err)
	}
	return nil
}

// tellAll reports once what WeCom holds of each poster: one whose list never
// changes would never be compared. False: the ingress is not there yet, or has not
// taken all.
func (o *oldSystem) tellAll() bool {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, p := range o.posters {
		o.must(encoder.Encode(map[string]any{"code": p.id, "users": o.atWeCom(p), "at": time.Now()}))
	}
	request, err := http.NewRequestWithContext(o.Context(), http.MethodPost,
		"http://"+o.cfg.Ingress.Addr+"/v1/tenants/"+tenant+"/imports/pushed", &lines)
	o.must(err)
	request.Header.Set("Authorization", "Bearer "+o.bearer)
	request.Header.Set("Content-Type", "application/x-ndjson")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
