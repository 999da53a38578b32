package wecom_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom/tokenstoretest"
)

func TestMemoryStoreConformance(t *testing.T) {
	tokenstoretest.Run(t, func(*testing.T) tokenstoretest.Fixture {
		clock := newClock()
		return tokenstoretest.Fixture{Store: wecom.NewMemoryStore(clock.now), Now: clock.now, Advance: clock.advance}
	})
}

func BenchmarkTokenHeld(b *testing.B) {
	endpoint, err := wecom.NewEndpoint(wecom.EndpointOptions{BaseURL: "http://wecom.invalid", HTTP: client(inMemory{newStub()})})
	if err != nil {
		b.Fatal(err)
	}
	tokens := wecom.NewTokens(endpoint, goodCredentials(), wecom.TokensOptions{})
	defer tokens.Close()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := tokens.Token(b.Context(), tenant); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkMemoryStorePut(b *testing.B) {
	store := wecom.NewMemoryStore(nil)
	for i := 0; b.Loop(); i++ {
		token := wecom.Token{Value: wecom.NewSecret("t"), Expires: time.Now().Add(time.Millisecond)}
		if err := store.Put(b.Context(), fmt.Sprint(i), token); err != nil {
			b.Fatal(err)
		}
	}
}
