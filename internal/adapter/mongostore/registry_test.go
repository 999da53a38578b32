package mongostore

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// What a bulk write of two codes meets on a real server.
var (
	bothMade    = bson.D{kv("ok", 1), kv("n", 2), kv("upserted", bson.A{bson.D{kv("index", 0), kv("_id", "a")}, bson.D{kv("index", 1), kv("_id", "b")}})}
	secondTaken = bson.D{kv("ok", 1), kv("n", 1), kv("nModified", 1), kv("writeErrors", bson.A{bson.D{kv("index", 1), kv("code", 11000), kv("errmsg", "E11000 duplicate key")}})}
	invalidDoc  = bson.D{kv("ok", 1), kv("n", 1), kv("nModified", 1), kv("writeErrors", bson.A{bson.D{kv("index", 1), kv("code", 121), kv("errmsg", "Document failed validation")}})}
	takenUnsure = append(append(bson.D{}, secondTaken...), kv("writeConcernError", bson.D{kv("code", 64), kv("errmsg", "waiting for replication timed out")}))
)

// E11000 of an upsert means one of two things: another tenant's code, or one
// that another writer made a moment ago.
func TestPutCodesOnAHarshServer(t *testing.T) {
	edits := []registry.CodeEdit{{Code: "a", Family: registry.To(roster.Native)}, {Code: "b", Family: registry.To(roster.Native)}}
	tests := map[string]struct {
		answers []bson.D
		taken   []string
		wantErr bool
		sent    int
	}{
		"both are made":                           {[]bson.D{bothMade}, nil, false, 1},
		"one is another tenant's":                 {[]bson.D{secondTaken, nothing}, []string{"b"}, false, 2},
		"one was made a moment ago":               {[]bson.D{secondTaken, updated}, nil, false, 2},
		"one is refused for another reason":       {[]bson.D{invalidDoc}, nil, true, 1},
		"no majority knows of them":               {[]bson.D{noMajority}, nil, true, 1},
		"one is taken and no majority knows":      {[]bson.D{takenUnsure}, nil, true, 1},
		"one is taken, and no majority of others": {[]bson.D{secondTaken, noMajority}, nil, true, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			db, sent := scripted(t, test.answers...)
			taken, err := db.Registry().PutCodes(t.Context(), "acme", edits)
			if (err != nil) != test.wantErr {
				t.Errorf("PutCodes: %v, want error %v", err, test.wantErr)
			}
			if diff := cmp.Diff(test.taken, taken); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
			if len(*sent) != test.sent {
				t.Errorf("sent %v, want %d commands", *sent, test.sent)
			}
		})
	}
}

func TestAWholeCodeOfAnotherTenantOnAHarshServer(t *testing.T) {
	code := roster.Code{ID: "c", Tenant: "acme", Family: roster.Native}
	for name, test := range map[string]struct {
		answers []bson.D
		want    error
	}{
		"made beside another writer": {[]bson.D{duplicate, updated}, nil},
		"another tenant's":           {[]bson.D{duplicate, duplicate}, push.ErrWrongTenant},
	} {
		db, _ := scripted(t, test.answers...)
		if err := db.Facts().PutCodes(t.Context(), code); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

// A claim of an idempotency key that another request took first.
func TestClaimOnAHarshServer(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	claim := registry.Claim{Scope: "acme", Key: "k", Fingerprint: "f", Until: now.Add(time.Minute), Expires: now.Add(time.Hour)}
	held := func(doc ...bson.E) bson.D {
		return bson.D{kv("ok", 1), kv("cursor", bson.D{kv("id", int64(0)), kv("ns", "test.idempotency"), kv("firstBatch", bson.A{bson.D(doc)})})}
	}
	none := bson.D{kv("ok", 1), kv("cursor", bson.D{kv("id", int64(0)), kv("ns", "test.idempotency"), kv("firstBatch", bson.A{})})}
	for name, test := range map[string]struct {
		answers []bson.D
		want    registry.ClaimState
		wantErr bool
	}{
		"free":                        {[]bson.D{created}, registry.Claimed, false},
		"expired":                     {[]bson.D{updated}, registry.Claimed, false},
		"held by the same request":    {[]bson.D{duplicate, nothing, held(kv("_id", "acme/k"), kv("fingerprint", "f"))}, registry.InProgress, false},
		"held by another request":     {[]bson.D{duplicate, nothing, held(kv("_id", "acme/k"), kv("fingerprint", "g"))}, registry.Reused, false},
		"answered":                    {[]bson.D{duplicate, nothing, held(kv("_id", "acme/k"), kv("fingerprint", "f"), kv("status", 200))}, registry.Answered, false},
		"dropped a moment ago":        {[]bson.D{duplicate, nothing, none}, registry.InProgress, false},
		"of which no majority knows":  {[]bson.D{noMajority}, 0, true},
		"of a store that cannot read": {[]bson.D{duplicate, nothing, {kv("ok", 0), kv("code", 13), kv("errmsg", "not authorized")}}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := scripted(t, test.answers...)
			got, _, err := db.Answers().Claim(t.Context(), claim, now)
			if (err != nil) != test.wantErr || err == nil && got != test.want {
				t.Errorf("Claim: %v, %v; want %v, error %v", got, err, test.want, test.wantErr)
			}
		})
	}
}

// A document that is no token lets nobody in.
func TestATokenWhoseHashIsCut(t *testing.T) {
	for name, hash := range map[string][]byte{"none": nil, "cut": make([]byte, 31)} {
		if token, err := (tokenDoc{ID: "kq3m", Hash: hash}).token(); err == nil {
			t.Errorf("a hash that is %s makes the token %+v", name, token)
		}
	}
	if token, err := (tokenDoc{ID: "kq3m", Hash: make([]byte, 32), Scopes: []string{"read"}}).token(); err != nil || !token.Grant().Allows(access.Read, "acme") {
		t.Errorf("%+v, %v", token, err)
	}
}
