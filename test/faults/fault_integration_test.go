//go:build integration

package faults

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// trouble is one row of the fault table.
type trouble struct {
	row string
	// behind is the part that the first refreshers of the fleet reach through a
	// proxy; so many of them, and so many others go straight.
	behind  part
	proxied int
	direct  int
	// length in the short and in the full form; 0: as long as it takes.
	short, long time.Duration
	// begin starts the fault and returns what ends it.
	begin func(*scene) (end func())
	// forgets says that the fault loses rotation sets, which come back with the
	// next event of each code.
	forgets bool
}

// troubles are the rows that disturb nobody else's; upheavals come one by one.
var (
	troubles = []trouble{
		network(slow, "answers 300±100 ms late", pulsarPart, 2, 0), network(slow, "answers 300±100 ms late", mongoPart, 2, 0),
		network(slow, "answers 300±100 ms late", redisPart, 2, 0), network(slow, "answers 300±100 ms late", wecomPart, 2, 0),
		network(cut, "resets all connections", pulsarPart, 2, 0), network(cut, "resets all connections", mongoPart, 2, 0),
		network(cut, "resets all connections", redisPart, 2, 0), network(cut, "resets all connections", wecomPart, 2, 0),
		network(silent, "is silent to all", pulsarPart, 2, 0), network(silent, "is silent to all", mongoPart, 2, 0),
		network(silent, "is silent to all", redisPart, 2, 0), network(silent, "is silent to all", wecomPart, 2, 0),
		network(silent, "is silent to one of two", pulsarPart, 1, 1),
		{row: "one of two frozen", direct: 2, begin: (*scene).freeze, short: 8 * time.Second, long: 70 * time.Second},
		{row: "topic unloaded", direct: 2, begin: (*scene).unload},
		{row: "rolling restart of three", direct: 3, begin: (*scene).roll},
	}
	// further are only in the full form.
	further = []trouble{
		network(silent, "is silent to one of two", mongoPart, 1, 1),
		network(silent, "is silent to one of two", redisPart, 1, 1),
		network(silent, "is silent to one of two", wecomPart, 1, 1),
	}
	upheavals = []trouble{
		{row: "Redis restarted", direct: 2, begin: (*scene).restartRedis},
		{row: "Redis emptied", direct: 2, begin: (*scene).flushRedis, forgets: true},
		{row: "broker restarted", direct: 2, begin: (*scene).restartBroker},
	}
)

// network is a row with a toxic between refreshers and a part.
func network(x toxic, does string, p part, proxied, direct int) trouble {
	out := trouble{
		row: string(p) + " " + does, behind: p, proxied: proxied, direct: direct,
		begin: func(s *scene) func() { return s.spoil(s.proxy, x) },
	}
	switch x.kind {
	case silent.kind:
		out.short, out.long = 8*time.Second, 70*time.Second // beyond what the broker needs to notice
	default:
		out.short, out.long = 3*time.Second, 10*time.Second
	}
	return out
}

// TestFaultTable disturbs refreshers under load. After the end of each fault
// every code agrees with its facts in time, no event is lost, no list goes out
// after a newer one, and our own pace never makes WeCom answer 45009.
func TestFaultTable(t *testing.T) {
	var b board
	var order []string
	aside := slices.Clone(troubles)
	if *full {
		aside = append(aside, further...)
	}
	for _, row := range slices.Concat(aside, upheavals) {
		order = append(order, row.row)
	}
	t.Run("rows", func(t *testing.T) {
		for _, row := range aside {
			t.Run(row.row, func(t *testing.T) {
				t.Parallel()
				b.play(row.row, func() result { return runTrouble(t, row) })
			})
		}
	})
	for _, row := range upheavals {
		t.Run(row.row, func(t *testing.T) { b.play(row.row, func() result { return runTrouble(t, row) }) })
	}
	b.print(t, "A fault under load", order)
}

// scene is a house with a fleet.
type scene struct {
	*house
	proxy      *proxy
	refreshers []*process
}

// faultCodes of each family.
const faultCodes = 8

// tight is a pace of 2.75 calls a second, a quarter of what the load asks for.
// Without a budget the load would meet WeCom's limit of 5 a second, even that of
// the native codes alone, which go on while Redis is away.
var tight = pace{burst: 8, perShort: 30, perLong: 300}

// loadRate is how many facts change a second.
const loadRate = 12

func runTrouble(t *testing.T, row trouble) result {
	s := &scene{house: newHouse(t, faultCodes, tight)}
	s.open(row)
	s.baseline()

	all := s.load(s.codes)
	pause(t.Context(), time.Second)
	before, began := s.judgeAll().Pushes, time.Now()
	end := row.begin(s)
	if length := row.length(); length > 0 {
		pause(t.Context(), time.Until(began.Add(length)))
	}
	during := s.judgeAll().Pushes - before
	end()
	ended := time.Now()
	all()
	// Half of the codes change once more; nothing but the events from before
	// the fault's end brings up the others.
	after := s.codes[:len(s.codes)/2]
	if row.forgets {
		after = s.codes
	}
	s.each(after, s.change)
	out := s.settle(row.row, ended)
	out.length, out.during = ended.Sub(began), during
	return out
}

func (row trouble) length() time.Duration {
	if *full {
		return row.long
	}
	return row.short
}

// open starts the fleet and a keeper, which goes straight.
func (s *scene) open(row trouble) {
	s.Helper()
	s.refreshers = make([]*process, row.proxied+row.direct)
	var keeper *process
	starts := []func() error{s.starting(&keeper, "keeper", "keeper")}
	if row.behind != "" {
		s.proxy = s.proxied(row.behind)
	}
	for i := range s.refreshers {
		var env []string
		if i < row.proxied {
			env = []string{s.proxy.env}
		}
		starts = append(starts, s.starting(&s.refreshers[i], "refresher", fmt.Sprint("refresher", i), env...))
	}
	s.startAll(starts...)
}

// load changes facts of the codes in turn until stop is called, which waits.
func (s *scene) load(codes []*code) (stop func()) {
	ctx, cancel := context.WithCancel(s.Context())
	// A change that was begun is finished, or its event would be missing.
	doing := context.WithoutCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		beat := rate.NewLimiter(loadRate, 1)
		for i := 0; beat.Wait(ctx) == nil; i++ {
			if err := s.change(doing, codes[i%len(codes)]); err != nil {
				s.Error(err)
				return
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

func nothing() {}

// again does the same every second or so, for as long as the row says.
func (s *scene) again(do func()) (end func()) {
	s.Helper()
	times := 3
	if *full {
		times = 10
	}
	for range times {
		do()
		pause(s.Context(), time.Second)
	}
	return nothing
}

// unload makes the broker let go of the topic, as when it moves to another
// broker.
func (s *scene) unload() func() {
	url := s.topicURL() + "/unload"
	return s.again(func() {
		request, err := http.NewRequestWithContext(s.Context(), http.MethodPut, url, http.NoBody)
		s.must(err)
		answer, err := http.DefaultClient.Do(request)
		s.must(err)
		s.must(answer.Body.Close())
		if answer.StatusCode/100 != 2 {
			s.Fatalf("unload the topic: %s", answer.Status)
		}
	})
}

// roll replaces every refresher, one after the other.
func (s *scene) roll() func() {
	for i, old := range s.refreshers {
		s.stop(old)
		s.startAll(s.starting(&s.refreshers[i], "refresher", fmt.Sprint("successor", i)))
		pause(s.Context(), time.Second)
	}
	return nothing
}

// freeze stops a refresher as a machine that hangs does. What it had decided,
// begun or half sent goes on when it thaws.
func (s *scene) freeze() func() {
	pid := s.refreshers[0].PID()
	s.must(syscall.Kill(pid, syscall.SIGSTOP))
	return func() { s.must(syscall.Kill(pid, syscall.SIGCONT)) }
}

func (s *scene) restartBroker() func() {
	s.must(ground.Pulsar.Restart(s.Context()))
	return nothing
}

// restartRedis leaves Redis stopped for a while.
func (s *scene) restartRedis() func() {
	return s.again(func() {
		s.must(ground.Redis.Stop(s.Context()))
		pause(s.Context(), time.Second)
		s.must(ground.Redis.Start(s.Context()))
	})
}

func (s *scene) flushRedis() func() {
	return s.again(func() { s.must(s.redis.FlushAll(s.Context()).Err()) })
}
