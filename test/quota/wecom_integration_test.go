//go:build integration

package quota

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
)

// told is one event as WeCom tells it.
type told struct {
	tenant, event, change, staff, customer, state string
	at                                            time.Time
	more                                          string // XML
}

func (e told) xml() []byte {
	return fmt.Appendf(nil, "<xml><ToUserName><![CDATA[%s]]></ToUserName><FromUserName><![CDATA[sys]]></FromUserName><CreateTime>%d</CreateTime>"+
		"<MsgType><![CDATA[event]]></MsgType><Event><![CDATA[%s]]></Event><ChangeType><![CDATA[%s]]></ChangeType><UserID><![CDATA[%s]]></UserID>"+
		"<ExternalUserID><![CDATA[%s]]></ExternalUserID><State><![CDATA[%s]]></State>%s</xml>",
		corpOf(e.tenant), e.at.Unix(), e.event, e.change, e.staff, e.customer, e.state, e.more)
}

// wecom sends events to whichever ingress is there, until one takes them. The
// real one gives up after three attempts: then an event that nobody took is
// lost, and what was counted could not be compared with what was told.
type wecom struct {
	codecs   map[string]*wecomcrypto.Codec
	client   *http.Client
	attempts atomic.Int64

	mu   sync.Mutex
	urls []string // of the ingresses
	next int
}

func newWeCom(codecs map[string]*wecomcrypto.Codec) *wecom {
	return &wecom{codecs: codecs, client: &http.Client{
		Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
}

func (w *wecom) joined(url string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.urls = append(w.urls, url)
}

func (w *wecom) left(url string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, other := range w.urls {
		if other == url {
			w.urls = append(w.urls[:i:i], w.urls[i+1:]...)
			break
		}
	}
}

func (w *wecom) pick() (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.urls) == 0 {
		return "", false
	}
	w.next++
	return w.urls[w.next%len(w.urls)], true
}

// tell sends an event until it is taken.
func (w *wecom) tell(ctx context.Context, e told) error {
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		if url, ok := w.pick(); ok {
			w.attempts.Add(1)
			if status, err := w.post(ctx, url, e); err == nil && status == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("an event was not taken: %w", ctx.Err())
		case <-retry.C:
		}
	}
}

// post makes one attempt and returns the status of its answer.
func (w *wecom) post(ctx context.Context, url string, e told) (int, error) {
	stamp, body, err := w.codecs[e.tenant].Seal(e.xml(), strconv.FormatInt(time.Now().Unix(), 10), "n"+strconv.Itoa(w.next))
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/callback/"+e.tenant+"?"+stamp.Query().Encode(), bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// tellAll sends events from several connections at once.
func (w *wecom) tellAll(ctx context.Context, events []told, connections int) error {
	todo := make(chan told)
	failed := make(chan error, connections)
	var sending sync.WaitGroup
	for range connections {
		sending.Go(func() {
			for e := range todo {
				if err := w.tell(ctx, e); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	for _, e := range events {
		todo <- e
	}
	close(todo)
	sending.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}
