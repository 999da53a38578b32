//go:build integration

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
)

// crash is one row of the crash matrix.
type crash struct {
	at step
	// way brings the event to the step; the zero value is the plain way.
	way way
}

// way is what has to be so that an event reaches a step.
type way int

const (
	plainWay  way = iota // the list changes
	poisonWay            // a message that nobody can act on
	parkWay              // more codes wait for budget than one refresher may hold
)

// crashes is the crash matrix: every step at which something outside changes
// or may change, before and after it.
var crashes = []crash{
	{at: afterReceive},
	{at: beforeVersion},
	{at: afterVersion},
	{at: beforeLoad},
	{at: afterLoad},
	{at: beforeReplace},
	{at: afterReplace},
	{at: beforeAdmit},
	{at: afterAdmit},
	{at: beforeBegin},
	{at: afterBegin},
	{at: beforeUpdate},
	{at: whileApplied},
	{at: afterUpdate},
	{at: beforeFacts},
	{at: afterFacts},
	{at: beforeVerification},
	{at: afterVerification},
	{at: beforeCommit},
	{at: afterCommit},
	{at: beforeAck},
	{at: afterAck},
	{at: afterFlush},
	{at: beforeDeadLetter, way: poisonWay},
	{at: afterDeadLetter, way: poisonWay},
	{at: beforePark, way: parkWay},
	{at: afterPark, way: parkWay},
}

// TestCrashMatrix kills a refresher with SIGKILL at every step while another
// one and a keeper run. Every code agrees with its facts in time, whichever
// code was in work and whether or not its facts change once more.
func TestCrashMatrix(t *testing.T) {
	t.Parallel() // with the stall matrix, once nobody restarts servers any more
	var b board
	var order []string
	t.Run("rows", func(t *testing.T) {
		for _, c := range crashes {
			for _, v := range variants() {
				row := string(c.at) + v.suffix
				order = append(order, row)
				t.Run(row, func(t *testing.T) {
					t.Parallel()
					b.play(row, func() result { return runCrash(t, row, c, v) })
				})
			}
		}
	})
	b.print(t, "A refresher is killed with SIGKILL", order)
}

// variant is a way to play a row.
type variant struct {
	suffix string
	nth    int // the time that the step is reached at which the process dies
	alone  bool
}

// variants are the first alone in the short form. In the second the successor
// starts only after the death, which comes in the middle of the work.
func variants() []variant {
	together := variant{nth: 1}
	if !*full {
		return []variant{together}
	}
	return []variant{together, {suffix: ", taken over", nth: 5, alone: true}}
}

// crashCodes of each family: with two refreshers, one in 65 000 runs has no
// code of a family at the one that is to die.
const crashCodes = 16

func runCrash(t *testing.T, row string, c crash, v variant) result {
	h := newHouse(t, crashCodes, c.way.pace())
	dir := t.TempDir()
	env := append(c.way.env(),
		envStep+"="+string(c.at), envFate+"="+string(dies), fmt.Sprintf("%s=%d", envNth, v.nth), envDir+"="+dir)
	trap := h.trap(dir)
	var victim, other, keeper *process
	starts := []func() error{
		h.starting(&victim, "refresher", "victim", append(env, "ROLLCALL_WECOM_BASE_URL="+trap.url)...),
		h.starting(&keeper, "keeper", "keeper", c.way.env()...),
	}
	if !v.alone {
		starts = append(starts, h.starting(&other, "refresher", "other", c.way.env()...))
	}
	h.startAll(starts...)
	h.baseline()

	if c.at == whileApplied {
		trap.spring(victim.PID(), v.nth)
	}
	h.must(os.WriteFile(filepath.Join(dir, armedFile), nil, 0o600))
	h.each(h.codes, h.change)
	if c.way == poisonWay {
		h.poison()
	}
	if !until(t.Context(), 30*time.Second, func() bool { return syscall.Kill(victim.PID(), 0) != nil }) {
		t.Fatalf("the refresher never came to %q for the %d. time", c.at, v.nth)
	}
	died := h.died(dir)
	if v.alone {
		h.startAll(h.starting(&other, "refresher", "other", c.way.env()...))
	}
	h.afterwards(dir, v)
	out := h.settle(row, died)
	if c.way == poisonWay {
		h.wantBuried(row)
	}
	return out
}

// died is the instant of the death.
func (h *house) died(dir string) time.Time {
	h.Helper()
	info, err := os.Stat(filepath.Join(dir, graveFile))
	h.must(err)
	return info.ModTime()
}

// afterwards changes some codes once more. The code that was in work, and half
// of the others, do not change: nothing but their first event brings them back.
// Of the rest some go on and some go back to the list before, which the record
// takes for the one at WeCom: only an open intent says that it need not be.
// Where the successor came late, the code that was in work goes back too.
func (h *house) afterwards(dir string, v variant) {
	h.Helper()
	grave, err := os.ReadFile(filepath.Join(dir, graveFile))
	h.must(err)
	h.Logf("died at work on %q", grave)
	var on, back []*code
	for i, c := range h.codes {
		switch inWork := c.Code == string(grave); {
		case inWork && v.alone:
			back = append(back, c)
		case inWork || i%8 < 4: // families take turns
		case i%8 < 6:
			on = append(on, c)
		default:
			back = append(back, c)
		}
	}
	h.each(back, h.revert)
	h.each(on, h.change)
}

// pace is scarce where codes have to wait.
func (w way) pace() pace {
	if w == parkWay {
		return pace{burst: 8, perShort: 40, perLong: 256} // 4 calls a second
	}
	return plain
}

func (w way) env() []string {
	if w == parkWay {
		return []string{"ROLLCALL_REFRESHER_MAX_HELD=4"}
	}
	return nil
}

// poisons is how many messages nobody can act on.
const poisons = 16

// poison publishes messages of a format that does not exist, each with a key.
func (h *house) poison() {
	h.Helper()
	p, err := h.client.CreateProducer(pulsar.ProducerOptions{Topic: h.topic, DisableBatching: true})
	h.must(err)
	defer p.Close()
	for i := range poisons {
		_, err := p.Send(h.Context(), &pulsar.ProducerMessage{Key: fmt.Sprint("poison-", i), Payload: []byte(`{"v":99}`)})
		h.must(err)
	}
}

// wantBuried looks for every poison in the dead-letter topic. One that was
// stored before its ack was lost is there twice.
func (h *house) wantBuried(row string) {
	h.Helper()
	buried := map[string]bool{}
	for letter, err := range pulsarbus.ListDeadLetters(h.Context(), pulsarbus.Options{
		URL: ground.PulsarURL, Topic: h.topic, DeadLetterTopic: h.topic + "-dead",
	}, 0) {
		h.must(err)
		buried[letter.OriginalID] = true
	}
	if len(buried) != poisons {
		h.Errorf("%s: %d messages are in the dead-letter topic; want %d", row, len(buried), poisons)
	}
}

// trap is WeCom as the victim sees it. It can kill whoever calls after the call
// has taken effect and before the answer.
type trap struct {
	url   string
	grave string
	house *house

	mu   sync.Mutex
	pid  int // 0: harmless
	left int // updates until it snaps
}

func (h *house) trap(dir string) *trap {
	tr := &trap{house: h, grave: filepath.Join(dir, graveFile)}
	server := httptest.NewServer(tr)
	h.Cleanup(server.Close)
	tr.url = server.URL
	return tr
}

func (tr *trap) spring(pid, nth int) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.pid, tr.left = pid, nth
}

func (tr *trap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/update_contact_way") {
		tr.house.sim.Handler().ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	tr.house.sim.Handler().ServeHTTP(answer, r)
	if tr.snaps(body) {
		<-r.Context().Done() // the caller is gone
		return
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// snaps kills the caller when its time has come, and reports that it did.
func (tr *trap) snaps(body []byte) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.pid == 0 {
		return false
	}
	if tr.left--; tr.left != 0 {
		return tr.left < 0
	}
	var call struct {
		ConfigID string `json:"config_id"`
	}
	if err := json.Unmarshal(body, &call); err != nil {
		tr.house.Error(err)
	}
	if err := os.WriteFile(tr.grave, []byte(strings.TrimPrefix(call.ConfigID, "cfg-")), 0o600); err != nil {
		tr.house.Error(err)
	}
	if err := syscall.Kill(tr.pid, syscall.SIGKILL); err != nil {
		tr.house.Error(err)
	}
	return true
}
