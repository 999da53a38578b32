package preflight

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// judged is one finding and what it should be: the verdict, and a part of what
// was found.
type judged struct {
	name  string
	f     Finding
	want  Verdict
	found string
}

func wantJudged(t *testing.T, all []judged) {
	t.Helper()
	for _, j := range all {
		if j.f.Verdict != j.want || !strings.Contains(j.f.Found, j.found) {
			t.Errorf("%s: %+v; want %s with %q", j.name, j.f, j.want, j.found)
		}
		if (j.f.Verdict == Warn || j.f.Verdict == Fail) != (j.f.Remedy != "") {
			t.Errorf("%s: %+v; a warning and a failure have a remedy, nothing else has", j.name, j.f)
		}
	}
}

func TestBrokerFindings(t *testing.T) {
	b := bus{Bus: Bus{Unacked: 11_000, Instances: 3}}
	quota := func(policy, limit string) Policies {
		return Policies{Quotas: []Quota{{Kind: "message_age", Policy: evicts}, {Kind: "destination_storage", Limit: limit, Policy: policy}}}
	}
	wantJudged(t, []judged{
		{"partitions, any number", partitions(4, 0), OK, "4"},
		{"partitions, as asked", partitions(8, 8), OK, "8"},
		{"partitions, one as asked", partitions(1, 1), OK, "1"},
		{"partitions, one", partitions(1, 0), Warn, "1 partition"},
		{"partitions, others than asked", partitions(4, 8), Warn, "not the 8"},
		{"not partitioned", partitions(0, 4), Warn, "not partitioned"},
		{"Key_Shared", keyShared(Subscription{Type: "Key_Shared", Consumers: 2, Backlog: 7}), OK, "backlog of 7"},
		{"no consumer yet", keyShared(Subscription{}), OK, "first consumer"},
		{"no consumer yet, as the broker says it", keyShared(Subscription{Type: "None"}), OK, "first consumer"},
		{"Shared, with consumers", keyShared(Subscription{Type: "Shared", Consumers: 1}), Fail, "refused"},
		{"Shared, without", keyShared(Subscription{Type: "Shared"}), Warn, "last consumers"},
		{"TTL off", ttl(Policies{}), OK, "off"},
		{"TTL on", ttl(Policies{TTL: time.Hour}), Fail, "1h"},
		{"no quota", backlogQuota(quota(evicts, "")), OK, "none"},
		{"a quota that holds producers", backlogQuota(quota("producer_request_hold", "10240 MiB")), OK, "nothing is dropped"},
		{"a quota that evicts", backlogQuota(quota(evicts, "10240 MiB")), Fail, "dropped"},
		{"un-acked, room", b.unacked(Policies{UnackedOfConsumer: 50_000, UnackedOfSubscription: 200_000}), OK, "11000 and 33000"},
		{"un-acked, no limit", b.unacked(Policies{}), OK, "no limit"},
		{"un-acked of a consumer", b.unacked(Policies{UnackedOfConsumer: 11_000}), Fail, "a refresher gets nothing"},
		{"un-acked of the subscription", b.unacked(Policies{UnackedOfConsumer: 11_001, UnackedOfSubscription: 33_000}), Warn, "none of them"},
		{"expiration off", expiration(Policies{}), OK, "off"},
		{"expiration on", expiration(Policies{Expiration: time.Hour}), Fail, "1h"},
		{"topic goes when caught up", expiration(Policies{DeletesWhenCaughtUp: true}), Fail, "caught up"},
		{"forbidden", unseen("it", ErrForbidden, "r"), Skip, "may not"},
		{"not there", unseen("it", ErrNotFound, "r"), Fail, "it is not there"},
		{"another error", unseen("it", errors.New("reset"), "r"), Fail, "reset"},
	})
}

func TestStoreFindings(t *testing.T) {
	wantJudged(t, []judged{
		{"too old", storeVersion(StoreServer{Version: "4.2.24"}), Fail, "4.2.24"},
		{"old", storeVersion(StoreServer{Version: "4.4.0"}), Warn, "4.4.0"},
		{"current", storeVersion(StoreServer{Version: "7.0.15"}), OK, "7.0.15"},
		{"a single server", replicaSet(StoreServer{}), Warn, "development only"},
		{"one member", replicaSet(StoreServer{Set: "rs0", Members: 1}), Warn, "1 members"},
		{"three members", replicaSet(StoreServer{Set: "rs0", Members: 3}), OK, "rs0"},
		{"sharded", replicaSet(StoreServer{Sharded: true}), OK, "sharded"},
	})
}

func TestCacheFindings(t *testing.T) {
	wantJudged(t, []judged{
		{"too old", cacheVersion(CacheServer{Version: "4.0.14"}), Fail, "4.0.14"},
		{"old", cacheVersion(CacheServer{Version: "6.0.16"}), Warn, "6.0.16"},
		{"current", cacheVersion(CacheServer{Version: "7.0.15"}), OK, "7.0.15"},
		{"a primary", topology(CacheServer{}), OK, "primary"},
		{"a replica", topology(CacheServer{Replica: true}), Fail, "replica"},
		{"a cluster", topology(CacheServer{Cluster: true}), Fail, "Cluster"},
		{"noeviction", eviction(CacheServer{Eviction: "noeviction", Bounded: true}), OK, ""},
		{"eviction, bounded", eviction(CacheServer{Eviction: "allkeys-lru", Bounded: true}), Fail, "forgotten"},
		{"eviction, unbounded", eviction(CacheServer{Eviction: "volatile-ttl"}), Warn, "maxmemory"},
		{"append-only", persistence(CacheServer{AppendOnly: true, Snapshots: true}), OK, "append-only"},
		{"snapshots", persistence(CacheServer{Snapshots: true}), Warn, "snapshots"},
		{"nothing kept", persistence(CacheServer{}), Warn, "none"},
	})
}

func TestClockFindings(t *testing.T) {
	const margin = 5 * time.Second
	wantJudged(t, []judged{
		{"the same", clock(Reading{Within: time.Millisecond}, margin), OK, "0s"},
		{"a second ahead, not surely", clock(Reading{Ahead: 1400 * time.Millisecond, Within: 500 * time.Millisecond}, margin), OK, "ahead"},
		{"beyond a second ahead", clock(Reading{Ahead: 1600 * time.Millisecond, Within: 500 * time.Millisecond}, margin), Warn, "ahead"},
		{"beyond a second behind", clock(Reading{Ahead: -1600 * time.Millisecond, Within: 500 * time.Millisecond}, margin), Warn, "1.6s behind"},
		{"beyond the margin", clock(Reading{Ahead: -6 * time.Second, Within: 500 * time.Millisecond}, margin), Fail, "INTENT_MARGIN"},
		{"no clock", clock(Reading{Unknown: true}, margin), Skip, ""},
	})
}

func TestDateReading(t *testing.T) {
	begun := time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
	got := DateReading("Mon, 02 Mar 2026 04:00:07 GMT", begun, 2*time.Second)
	if want := (Reading{Ahead: 6500 * time.Millisecond, Within: 1500 * time.Millisecond}); got != want {
		t.Errorf("%+v, want %+v: half a second into it, half the trip later", got, want)
	}
	if got := DateReading("yesterday", begun, 0); !got.Unknown {
		t.Errorf("%+v of no date", got)
	}
}

func TestVendorFindings(t *testing.T) {
	wantJudged(t, []judged{
		{"quick", greeted(Greeting{Took: 80 * time.Millisecond, Address: "1.2.3.4"}, "https://x"), OK, "sees us as 1.2.3.4"},
		{"slow", greeted(Greeting{Took: 3 * time.Second}, "https://x"), Warn, "3s"},
		{"credentials good", credentials(Tried{Ways: 1}), OK, "accepted"},
		{"a wrong secret", credentials(Tried{Step: "gettoken", ErrCode: 40001}), Fail, "40001"},
		{"an address that is not trusted", credentials(Tried{Step: "gettoken", ErrCode: 60020, Address: "1.2.3.4"}), Fail, "1.2.3.4 is not trusted"},
		{"an unknown code", credentials(Tried{Step: "gettoken", ErrCode: 1}), Fail, "errcode 1"},
	})
}

func TestSettingsFindings(t *testing.T) {
	good, bad := Settings{SealKey: "2026a", TokenKey: true}, Settings{Unknown: []string{"ROLLCALL_X is not a variable of Rollcall"}}
	wantJudged(t, []judged{
		{"variables", good.variables(), OK, ""},
		{"an unknown variable", bad.variables(), Warn, "ROLLCALL_X"},
		{"a seal key", good.sealKeys(), OK, "2026a"},
		{"no seal key", bad.sealKeys(), Warn, "ROLLCALL_SEAL_KEYS"},
		{"a token key", good.tokenKey(), OK, ""},
		{"no token key", bad.tokenKey(), Warn, "ROLLCALL_WECOM_TOKEN_KEY"},
	})
}

func TestOlder(t *testing.T) {
	for _, tt := range []struct {
		version, than string
		want          bool
	}{
		{"4.0.8", "4.0.8", false},
		{"4.0.10", "4.0.8", false},
		{"4.0.7", "4.0.8", true},
		{"3.3.9", "4", true},
		{"4.2.4-SNAPSHOT", "4.0.8", false},
		{"7", "6.2", false},
	} {
		if got := older(tt.version, tt.than); got != tt.want {
			t.Errorf("older(%q, %q) = %t", tt.version, tt.than, got)
		}
	}
}

// brokerFake answers what it is told to.
type brokerFake struct {
	BrokerAdmin
	version             string
	topicErr, policyErr error
	connect, may        error
	partitions          int
}

func (b brokerFake) Version(context.Context) (string, Reading, error) {
	return b.version, Reading{}, nil
}

func (b brokerFake) Partitions(context.Context, string) (int, error) {
	return b.partitions, b.topicErr
}

func (b brokerFake) Policies(context.Context, string) (Policies, error) {
	return Policies{}, b.policyErr
}
func (b brokerFake) Connect(context.Context) error         { return b.connect }
func (b brokerFake) Produce(context.Context, string) error { return b.may }
func (b brokerFake) Consume(context.Context, string) error { return b.may }

func TestPermissions(t *testing.T) {
	ctx := t.Context()
	look := func(f brokerFake) bus { return bus{Bus{Topic: "t"}, f, f} }
	may := func(f brokerFake) Finding {
		b := look(f)
		return b.may("t", b.broker.Produce, "produce to", "nothing is published")(ctx)
	}
	alone := bus{Bus{Topic: "t"}, brokerFake{}, nil}
	wantJudged(t, []judged{
		{"an administrator", look(brokerFake{version: "4.0.8"}).administrate(ctx), OK, "4.0.8"},
		{"a client", look(brokerFake{policyErr: ErrForbidden}).administrate(ctx), Warn, "no administrator"},
		{"a stranger", look(brokerFake{topicErr: ErrForbidden}).administrate(ctx), Warn, "deadletters"},
		{"credentials refused", look(brokerFake{connect: ErrForbidden}).connect(ctx), Fail, "not permitted"},
		{"away", look(brokerFake{connect: errors.New("reset")}).connect(ctx), Fail, "reset"},
		{"may", may(brokerFake{}), OK, "permitted"},
		{"may not", may(brokerFake{may: ErrForbidden}), Fail, "cannot produce to t: nothing is published"},
		{"nothing to try on", may(brokerFake{topicErr: ErrNotFound}), Skip, "not there"},
		{"an admin API that does not answer", may(brokerFake{topicErr: errors.New("http 500")}), Skip, "not known"},
		{"nobody to ask", alone.may("t", alone.broker.Produce, "", "")(ctx), Skip, "admin"},
		{"a version without draining", look(brokerFake{version: "3.3.9"}).version(ctx), Warn, "drain"},
		{"a version that is not tested", look(brokerFake{version: "4.0.7"}).version(ctx), Warn, "not tested"},
		{"a tested version", look(brokerFake{version: "4.1.0"}).version(ctx), OK, "4.1.0"},
	})
}

func TestWithoutTheAdminAPILittleIsSaid(t *testing.T) {
	verdicts := map[string]Verdict{}
	for _, r := range Run(t.Context(), PulsarChecks(Bus{Topic: "t"}, brokerFake{}, nil), Options{Timeout: time.Second}) {
		verdicts[r.Name] = r.Verdict
	}
	want := map[string]Verdict{"pulsar.connect": OK, "pulsar.admin": Warn, "pulsar.produce": Skip, "pulsar.consume": Skip, "pulsar.bury": Skip}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Error(diff)
	}
}
