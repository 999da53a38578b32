package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// How a stream of live figures is kept.
const (
	heartbeat  = 15 * time.Second // a stream that has nothing to say says so
	streamTime = 10 * time.Minute // then the browser connects anew
	writeTime  = 10 * time.Second // of one message
)

// streams counts what is live.
type streams struct {
	mu         sync.Mutex
	most, each int
	open       int
	of         map[string]int // by session
}

func (s *streams) enter(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.most || s.of[session] >= s.each {
		return false
	}
	s.open++
	s.of[session]++
	return true
}

func (s *streams) leave(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.of[session]--; s.of[session] == 0 {
		delete(s.of, session)
	}
}

// figures are one message of a stream.
type figures struct {
	HTML string `json:"html"`
	Said string `json:"said"` // for whoever does not see the page
}

// getLive sends a page's figures whenever they have changed, until the session,
// the process or streamTime ends.
func (c *Console) getLive(v *visit) error {
	look, err := c.looker(v)
	if err != nil {
		return err
	}
	if !c.live.enter(v.session.ID) {
		return refusal{http.StatusServiceUnavailable, "error.streams", ""}
	}
	defer c.live.leave(v.session.ID)
	h := v.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy that gathers would hold figures back
	s := stream{w: v.w, connection: http.NewResponseController(v.w)}
	if s.send("retry: 3000\n\n") != nil {
		return nil
	}
	c.follow(v, &s, look)
	return nil
}

// follow looks again and again.
func (c *Console) follow(v *visit, s *stream, look func(context.Context) (figures, error)) {
	tick := time.NewTicker(c.opts.Live)
	defer tick.Stop()
	begun, quiet := time.Now(), time.Now()
	last := ""
	for time.Since(begun) < streamTime {
		v.now = c.opts.Now()
		if err := c.recognize(v); err != nil {
			s.end(err)
			return
		}
		message := c.message(v, look)
		switch {
		case message != last:
			last, quiet = message, time.Now()
			if s.send(message) != nil {
				return
			}
		case time.Since(quiet) >= heartbeat:
			quiet = time.Now()
			if s.send(": here\n\n") != nil {
				return
			}
		}
		select {
		case <-v.Context().Done():
			return
		case <-c.stop:
			return
		case <-tick.C:
		}
	}
}

// away has a page say that its figures are old; it keeps them.
const away = "event: away\ndata: {}\n\n"

// message is what a look says, or that nothing could be read. A look ends with the
// process, whatever it waits for.
func (c *Console) message(v *visit, look func(context.Context) (figures, error)) string {
	ctx, cancel := v.timed()
	defer cancel()
	looking := make(chan struct{})
	defer close(looking)
	go func() {
		select {
		case <-c.stop:
			cancel()
		case <-looking:
		}
	}()
	seen, err := look(ctx)
	if err != nil {
		return away
	}
	text, err := json.Marshal(seen)
	if err != nil {
		return away
	}
	return "data: " + string(text) + "\n\n"
}

// looker is the look of the page that is named.
func (c *Console) looker(v *visit) (func(context.Context) (figures, error), error) {
	switch v.param("page") {
	case "overview":
		if v.grant.Tenant != "" {
			return nil, notFound
		}
		return func(ctx context.Context) (figures, error) {
			view, err := c.looked.Get(ctx)
			if err != nil {
				return figures{}, err
			}
			html, err := c.render(v, "overview", "live", overviewPage, overview{view})
			return figures{string(html), v.look.lang.say("live.incidents", len(view.Incidents))}, err
		}, nil
	case "code":
		ref := push.Ref{Tenant: v.param("tenant"), Code: v.param("code")}
		if registry.CheckTenantID(ref.Tenant) != nil || registry.CheckCodeID(ref.Code) != nil || !v.grant.Reaches(ref.Tenant) {
			return nil, notFound
		}
		return func(ctx context.Context) (figures, error) { return c.lookAtCode(ctx, v, ref) }, nil
	}
	return nil, notFound
}

func (c *Console) lookAtCode(ctx context.Context, v *visit, ref push.Ref) (figures, error) {
	x, err := c.Explainer.Explain(ctx, ref, false)
	if err != nil {
		return figures{}, err
	}
	zone := zoneOf(x.Facts.Tenant)
	body := codeBodyOf(x, v.look.lang, zone)
	html, err := c.render(v, "code", "live", page{Zone: zone}, body)
	return figures{string(html), v.look.lang.say(body.Headline)}, err
}

// stream is an answer without an end.
type stream struct {
	w          http.ResponseWriter
	connection *http.ResponseController
}

// end tells a page whose session is over. Where nobody could say whether it is the
// browser asks again.
func (s *stream) end(why error) {
	var as refusal
	if errors.Is(why, errSignInFirst) || errors.As(why, &as) {
		_ = s.send("event: ended\ndata: {}\n\n")
	}
}

// send writes at once, beyond the time that the server gives an answer.
func (s *stream) send(text string) error {
	if err := s.connection.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(s.w, text); err != nil {
		return err
	}
	return s.connection.Flush()
}
