package refresh_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

func TestEncodeWritesTheDocumentedPayload(t *testing.T) {
	tests := []struct {
		name string
		edit func(*refresh.Event)
		want string
	}{
		{
			"every field", func(*refresh.Event) {},
			`{"v":1,"tenant":"wwd08c8e7c775ab44d","code":"c-00017","reason":"staff_offline","occurred_at":"2026-03-04T05:06:07.000000089Z","note":"zhang.san went \"off line\""}`,
		},
		{
			"an empty note is left out", func(e *refresh.Event) { e.Note = "" },
			`{"v":1,"tenant":"wwd08c8e7c775ab44d","code":"c-00017","reason":"staff_offline","occurred_at":"2026-03-04T05:06:07.000000089Z"}`,
		},
		{"time in UTC", func(e *refresh.Event) {
			e.OccurredAt = time.Date(2026, 3, 4, 8, 0, 0, 0, time.FixedZone("", 8*3600))
			e.Note = ""
		}, `{"v":1,"tenant":"wwd08c8e7c775ab44d","code":"c-00017","reason":"staff_offline","occurred_at":"2026-03-04T00:00:00Z"}`},
		{
			"escapes", func(e *refresh.Event) { e.Reason, e.Note = "换班 <&>", "a\n\x01\\" },
			`{"v":1,"tenant":"wwd08c8e7c775ab44d","code":"c-00017","reason":"换班 <&>","occurred_at":"2026-03-04T05:06:07.000000089Z","note":"a\u000a\u0001\\"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := sample()
			tt.edit(&e)
			got, err := refresh.Encode(e)
			if err != nil {
				t.Fatalf("Encode: %v", err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("payload (-want +got):\n%s", diff)
			}
			if !json.Valid(got) {
				t.Error("not JSON")
			}
			back, err := refresh.Decode(got)
			if err != nil {
				t.Fatalf("Decode: %v", err)
			}
			e.OccurredAt = e.OccurredAt.UTC()
			if diff := cmp.Diff(e, back); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncodeRefusesAnInvalidEvent(t *testing.T) {
	e := sample()
	e.Code = ""
	var invalid *refresh.InvalidError
	if payload, err := refresh.Encode(e); !errors.As(err, &invalid) || payload != nil {
		t.Errorf("Encode = %q, %v, want an InvalidError", payload, err)
	}
}

// Other languages' encoders escape more than ours: every byte of the text
// fields may take six.
func TestEveryValidEventFitsWhateverTheEncoderEscapes(t *testing.T) {
	e := sample()
	e.Tenant, e.Code = strings.Repeat("t", refresh.MaxTenant), strings.Repeat("c", refresh.MaxCode)
	e.Reason, e.Note = strings.Repeat("\x01", refresh.MaxReason), strings.Repeat("\x01", refresh.MaxNote)
	payload, err := refresh.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("largest payload: %d bytes", len(payload))
	if len(payload) > refresh.MaxPayload {
		t.Errorf("%d bytes, beyond MaxPayload", len(payload))
	}
}

func TestDecode(t *testing.T) {
	const head = `{"v":1,"tenant":"t","code":"c","reason":"r","occurred_at":"2026-03-04T05:06:07Z"`
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	plain := refresh.Event{Tenant: "t", Code: "c", Reason: "r", OccurredAt: at}
	tests := []struct {
		name    string
		payload string
		want    refresh.Event
		err     error // a value of the type that is wanted
	}{
		{"plain", head + `}`, plain, nil},
		{"unknown fields are ignored", head + `,"priority":{"a":[1]},"x":null}`, plain, nil},
		{"another zone", strings.Replace(head, "05:06:07Z", "13:06:07+08:00", 1) + `}`, plain, nil},
		{"white space around", " \n" + head + "}\t", plain, nil},
		{
			"a long note is cut", head + `,"note":"` + strings.Repeat("码", 300) + `"}`,
			with(plain, func(e *refresh.Event) { e.Note = strings.Repeat("码", 170) }), nil,
		},
		{
			"a long reason is cut", strings.Replace(head, `"r"`, `"`+strings.Repeat("r", 70)+`"`, 1) + `}`,
			with(plain, func(e *refresh.Event) { e.Reason = strings.Repeat("r", 64) }), nil,
		},

		{"empty", ``, refresh.Event{}, &refresh.UndecodableError{}},
		{"not JSON", `refresh c`, refresh.Event{}, &refresh.UndecodableError{}},
		{"cut off", head, refresh.Event{}, &refresh.UndecodableError{}},
		{"two documents", head + `}{}`, refresh.Event{}, &refresh.UndecodableError{}},
		{"not an object", `[1]`, refresh.Event{}, &refresh.UndecodableError{}},
		{"null", `null`, refresh.Event{}, &refresh.UndecodableError{}},
		{"no version", `{"tenant":"t","code":"c"}`, refresh.Event{}, &refresh.UndecodableError{}},
		{"a version that is no number", `{"v":"1"}`, refresh.Event{}, &refresh.UndecodableError{}},
		{"a field of another type", `{"v":1,"tenant":7}`, refresh.Event{}, &refresh.UndecodableError{}},
		{"no code", `{"v":1,"tenant":"t","reason":"r","occurred_at":"2026-03-04T05:06:07Z"}`, refresh.Event{}, &refresh.UndecodableError{}},
		{"no reason", `{"v":1,"tenant":"t","code":"c","occurred_at":"2026-03-04T05:06:07Z"}`, refresh.Event{}, &refresh.UndecodableError{}},
		{"no time", `{"v":1,"tenant":"t","code":"c","reason":"r"}`, refresh.Event{}, &refresh.UndecodableError{}},
		{"a time that is none", `{"v":1,"tenant":"t","code":"c","reason":"r","occurred_at":"now"}`, refresh.Event{}, &refresh.UndecodableError{}},

		{"a newer version", `{"v":2,"tenant":"t"}`, refresh.Event{}, &refresh.VersionError{}},
		{"a newer version of another shape", `{"tenant":{"id":"t"},"v":2}`, refresh.Event{}, &refresh.VersionError{}},
		{"version 0", `{"v":0}`, refresh.Event{}, &refresh.VersionError{}},

		{"as large as allowed", head + `,"x":"` + strings.Repeat("x", refresh.MaxPayload-len(head)-8) + `"}`, plain, nil},
		{"one byte larger", head + `,"x":"` + strings.Repeat("x", refresh.MaxPayload-len(head)-7) + `"}`, refresh.Event{}, &refresh.SizeError{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := refresh.Decode([]byte(tt.payload))
			if reflect.TypeOf(err) != reflect.TypeOf(tt.err) {
				t.Fatalf("error %T (%v), want %T", err, err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeErrorsSayWhatIsWrong(t *testing.T) {
	tests := []struct{ payload, want string }{
		{`{"v":3}`, "version 3"},
		{strings.Repeat(" ", 5000), "5000 bytes"},
		{`{"v":1,"tenant":"a b","code":"c","reason":"r","occurred_at":"2026-03-04T05:06:07Z"}`, "invalid tenant"},
		{`{"v":1,"tenant":"t","code":"c","reason":"r","occurred_at":"now"}`, `occurred_at "now"`},
	}
	for _, tt := range tests {
		if _, err := refresh.Decode([]byte(tt.payload)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Decode(%.40q) = %v, want %q in it", tt.payload, err, tt.want)
		}
	}
}

// Whatever arrives: no panic, one of the three errors, and what decodes can be
// encoded again to the same event.
func FuzzDecode(f *testing.F) {
	payload, err := refresh.Encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Add([]byte(`{"v":2}`))
	f.Add([]byte(`{"v":1,"tenant":"t","code":"c","reason":"\ud800","occurred_at":"0000-01-01T00:00:00+23:59","note":"\u0000"}`))
	f.Add([]byte{0xff, 0xfe})
	f.Fuzz(func(t *testing.T, payload []byte) {
		e, err := refresh.Decode(payload)
		if err != nil {
			var size *refresh.SizeError
			var version *refresh.VersionError
			var undecodable *refresh.UndecodableError
			if !errors.As(err, &size) && !errors.As(err, &version) && !errors.As(err, &undecodable) {
				t.Fatalf("error %T: %v", err, err)
			}
			return
		}
		again, err := refresh.Encode(e)
		if err != nil {
			t.Fatalf("decoded %+v, which does not encode: %v", e, err)
		}
		back, err := refresh.Decode(again)
		if err != nil || back != e {
			t.Fatalf("%+v became %+v, %v", e, back, err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	e := sample()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := refresh.Encode(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	payload, err := refresh.Encode(sample())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := refresh.Decode(payload); err != nil {
			b.Fatal(err)
		}
	}
}

// One allocation: the payload itself.
func TestEncodeAllocatesThePayloadOnly(t *testing.T) {
	e := sample()
	if n := testing.AllocsPerRun(100, func() { _, _ = refresh.Encode(e) }); n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

func with(e refresh.Event, edit func(*refresh.Event)) refresh.Event {
	edit(&e)
	return e
}
