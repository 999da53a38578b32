package wecomsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
)

// newCallbackClient keeps enough connections open for hundreds of callbacks a
// second to one address, and bounds them.
func newCallbackClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 256, IdleConnTimeout: 30 * time.Second},
		// A redirect is an answer other than 200.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Emit sends an event to the corp's callback and waits for the end: nil when
// it was answered with 200, the last attempt's error when it was given up,
// ctx's error when that ended first. An event for a corp without a callback
// ends at once.
func (s *Sim) Emit(ctx context.Context, e Event) error {
	c, ok := s.corp(e.Corp)
	if !ok {
		return fmt.Errorf("emit %s for %s: %w", e.ChangeType, e.Corp, ErrUnknownCorp)
	}
	e.Event = orDefault(e.Event, ChangeExternalContact)
	e.CreateTime = orDefault(e.CreateTime, s.now())
	send := s.sender(c, e)
	if send == nil {
		return nil
	}
	s.counts.events.Add(1)
	err := s.try(ctx, send)
	if err != nil {
		s.counts.givenUp.Add(1)
		s.logger.Warn("callback given up", "corp", e.Corp, "change", e.ChangeType, "user", e.UserID, "err", err)
		return fmt.Errorf("emit %s for %s: %w", e.ChangeType, e.Corp, err)
	}
	s.counts.delivered.Add(1)
	return nil
}

// try calls send until it succeeds, as often and as long as WeCom does.
func (s *Sim) try(ctx context.Context, send func(context.Context) error) error {
	var err error
	for attempt := range s.callbacks.Attempts {
		if attempt > 0 && !s.pause(ctx, s.callbacks.Wait) {
			return errors.Join(err, context.Cause(ctx))
		}
		s.counts.attempts.Add(1)
		within, cancel := context.WithTimeout(ctx, s.callbacks.Timeout)
		err = send(within)
		cancel()
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("%d attempts: %w", s.callbacks.Attempts, err)
}

// pause waits and reports whether to go on.
func (s *Sim) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.life.done:
	}
	return false
}

// sender returns how the corp takes the event; nil: not at all.
func (s *Sim) sender(c *corp, e Event) func(context.Context) error {
	c.mu.RLock()
	callback, codec := c.conf.Callback, c.codec
	c.mu.RUnlock()
	switch {
	case callback.Deliver != nil:
		return func(ctx context.Context) error { return callback.Deliver(ctx, e) }
	case codec != nil:
		return func(ctx context.Context) error { return s.post(ctx, callback.URL, codec, e) }
	}
	return nil
}

// post makes one attempt. Each has a nonce and a ciphertext of its own.
func (s *Sim) post(ctx context.Context, target string, codec *wecomcrypto.Codec, e Event) error {
	message, err := e.XML()
	if err != nil {
		return err
	}
	stamp, body, err := codec.Seal(message, strconv.FormatInt(s.now().Unix(), 10), s.nonce())
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, withQuery(target, stamp.Query()), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("callback request: %w", err)
	}
	req.Header.Set("Content-Type", "text/xml")
	_, err = s.do(req)
	return err
}

// VerifyURL checks the corp's callback URL as WeCom's console does when it is
// saved: the answer to a GET has to be the bare text within echostr, in one
// second.
func (s *Sim) VerifyURL(ctx context.Context, corpID string) error {
	c, ok := s.corp(corpID)
	if !ok {
		return fmt.Errorf("verify callback of %s: %w", corpID, ErrUnknownCorp)
	}
	c.mu.RLock()
	target, codec := c.conf.Callback.URL, c.codec
	c.mu.RUnlock()
	if codec == nil {
		return fmt.Errorf("verify callback of %s: it has no URL", corpID)
	}
	text := strconv.FormatInt(s.now().UnixNano(), 10)
	stamp, echo, err := codec.SealEcho([]byte(text), strconv.FormatInt(s.now().Unix(), 10), s.nonce())
	if err != nil {
		return fmt.Errorf("verify callback of %s: %w", corpID, err)
	}
	query := stamp.Query()
	query.Set("echostr", echo)
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, withQuery(target, query), nil)
	if err != nil {
		return fmt.Errorf("verify callback of %s: %w", corpID, err)
	}
	got, err := s.do(req)
	if err != nil {
		return fmt.Errorf("verify callback of %s: %w", corpID, err)
	}
	if got != text {
		return fmt.Errorf("verify callback of %s: the answer is not the text of echostr", corpID)
	}
	return nil
}

// do returns the body of an answer with 200. Errors do not hold the URL: its
// query is signed.
func (s *Sim) do(req *http.Request) (string, error) {
	resp, err := s.client.Do(req)
	if err != nil {
		if inner := new(url.Error); errors.As(err, &inner) {
			err = inner.Err
		}
		return "", fmt.Errorf("callback: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end below; nothing is lost
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return "", fmt.Errorf("callback: read answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("callback: http %d", resp.StatusCode)
	}
	return string(body), nil
}

func (s *Sim) nonce() string { return strconv.Itoa(s.dice.intN(1e9)) }

func withQuery(target string, query url.Values) string {
	separator := "?"
	if strings.Contains(target, "?") {
		separator = "&"
	}
	return target + separator + query.Encode()
}
