package wecom_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// The bodies are spelled out: an update overwrites, so a field more or less is
// data lost at WeCom.
func TestRequestOnTheWire(t *testing.T) {
	ctx := t.Context()
	for _, test := range []struct {
		name string
		op   string
		call func(*wecom.Client) error
		want string
	}{
		{
			name: "an update sends all that it overwrites, departments included",
			op:   wecom.OpUpdate,
			call: func(c *wecom.Client) error {
				return c.UpdateContactWay(ctx, tenant, wecom.UpdateContactWayRequest{ConfigID: "c1", User: []string{"amy", "bob"}})
			},
			want: `{"config_id":"c1","remark":"","skip_verify":false,"state":"","user":["amy","bob"],"party":[]}`,
		},
		{
			name: "an update of departments alone",
			op:   wecom.OpUpdate,
			call: func(c *wecom.Client) error {
				return c.UpdateContactWay(ctx, tenant, wecom.UpdateContactWayRequest{
					ConfigID: "c1", Remark: "前台", SkipVerify: true, State: "s", Party: []int64{7}, Style: 2,
					SendBy: time.Now().Add(time.Hour),
				})
			},
			want: `{"config_id":"c1","remark":"前台","skip_verify":true,"state":"s","user":[],"party":[7],"style":2}`,
		},
		{
			name: "an add spells out skip_verify, which WeCom takes for true",
			op:   wecom.OpAdd,
			call: func(c *wecom.Client) error {
				_, err := c.AddContactWay(ctx, tenant, wecom.AddContactWayRequest{
					Type: wecom.Multi, Scene: wecom.QRCode, User: []string{"amy"}, State: "s",
				})
				return err
			},
			want: `{"type":2,"scene":2,"skip_verify":false,"state":"s","user":["amy"]}`,
		},
		{
			name: "get",
			op:   wecom.OpGet,
			call: func(c *wecom.Client) error { _, err := c.GetContactWay(ctx, tenant, "c1"); return err },
			want: `{"config_id":"c1"}`,
		},
		{
			name: "delete",
			op:   wecom.OpDelete,
			call: func(c *wecom.Client) error { return c.DelContactWay(ctx, tenant, "c1") },
			want: `{"config_id":"c1"}`,
		},
		{
			name: "list, by default WeCom's window and the largest page",
			op:   wecom.OpList,
			call: listAll(ctx, wecom.ListContactWaysRequest{}),
			want: `{"limit":1000}`,
		},
		{
			name: "list of a time",
			op:   wecom.OpList,
			call: listAll(ctx, wecom.ListContactWaysRequest{Start: time.Unix(100, 0), End: time.Unix(200, 0), PageSize: 5000}),
			want: `{"start_time":100,"end_time":200,"limit":1000}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, wecom.TokensOptions{})
			b.stub.response[wecom.OpAdd] = `{"errcode":0,"config_id":"c1","qr_code":"https://wework.example/q"}`
			b.stub.response[wecom.OpGet] = `{"errcode":0,"contact_way":{"config_id":"c1"}}`
			if err := test.call(b.client); err != nil {
				t.Fatal(err)
			}
			got := b.stub.last(t)
			if diff := cmp.Diff(received{Op: test.op, Token: tokenTag + "1", Body: test.want}, got); diff != "" {
				t.Errorf("call (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	b := newBench(t, wecom.TokensOptions{})
	b.stub.response[wecom.OpAdd] = `{"errcode":0,"errmsg":"ok","config_id":"c1","qr_code":"https://wework.example/q"}`
	b.stub.response[wecom.OpGet] = `{"errcode":0,"contact_way":{"config_id":"c1","type":2,"scene":2,"style":1,"remark":"r",
		"skip_verify":true,"state":"s","qr_code":"q","user":["amy","bob"],"party":[2,3],"is_temp":true,"expires_in":86400,
		"chat_expires_in":60,"unionid":"u","conclusions":{"text":{"content":"bye"}}}}`
	added, err := b.client.AddContactWay(t.Context(), tenant, wecom.AddContactWayRequest{User: []string{"amy"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wecom.AddContactWayResponse{ConfigID: "c1", QRCode: "https://wework.example/q"}, added); diff != "" {
		t.Errorf("add (-want +got):\n%s", diff)
	}
	got, err := b.client.GetContactWay(t.Context(), tenant, "c1")
	if err != nil {
		t.Fatal(err)
	}
	want := wecom.ContactWay{
		ConfigID: "c1", Type: wecom.Multi, Scene: wecom.QRCode, Style: 1, Remark: "r", SkipVerify: true, State: "s",
		QRCode: "q", User: []string{"amy", "bob"}, Party: []int64{2, 3}, IsTemp: true, ExpiresIn: 86400,
		ChatExpiresIn: 60, UnionID: "u", Conclusions: json.RawMessage(`{"text":{"content":"bye"}}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("get (-want +got):\n%s", diff)
	}
}

// An answer with errcode 0 that lacks what was asked for is not WeCom's.
func TestAnswerThatIsNotToTheQuestion(t *testing.T) {
	b := newBench(t, wecom.TokensOptions{})
	b.stub.response[wecom.OpGet] = `{"errcode":0,"contact_way":{"config_id":"c2"}}`
	b.stub.response[wecom.OpUpdate] = `{"errcode":0,"errmsg":"ok","unexpected":[1]}`
	_, err := b.client.GetContactWay(t.Context(), tenant, "c1")
	if callErr := callError(t, err); !errors.Is(err, wecom.ErrMalformedAnswer) || callErr.Unknown {
		t.Errorf("another contact way: %v", err)
	}
	_, err = b.client.AddContactWay(t.Context(), tenant, wecom.AddContactWayRequest{User: []string{"amy"}})
	if callErr := callError(t, err); !errors.Is(err, wecom.ErrMalformedAnswer) || !callErr.Unknown {
		t.Errorf("no config ID: %v", err)
	}
	b.stub.response[wecom.OpAdd] = `{"errcode":0,"config_id":7}`
	_, err = b.client.AddContactWay(t.Context(), tenant, wecom.AddContactWayRequest{User: []string{"amy"}})
	if callErr := callError(t, err); !errors.Is(err, wecom.ErrMalformedAnswer) || !callErr.Unknown {
		t.Errorf("a config ID of another type: %v", err)
	}
	if err := b.client.UpdateContactWay(t.Context(), tenant, wecom.UpdateContactWayRequest{ConfigID: "c1", User: []string{"amy"}}); err != nil {
		t.Errorf("a field more: %v", err)
	}
}

// A list that WeCom would refuse, or that would empty a code by mistake, is
// not sent.
func TestListThatIsNotSent(t *testing.T) {
	for name, test := range map[string]struct {
		users []string
		want  error
	}{
		"nobody":      {nil, wecom.ErrNoMembers},
		"101 members": {many(101), wecom.ErrTooManyMembers},
		"100 members": {many(100), nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, wecom.TokensOptions{})
			b.stub.response[wecom.OpAdd] = `{"errcode":0,"config_id":"c1"}`
			err := b.client.UpdateContactWay(t.Context(), tenant, wecom.UpdateContactWayRequest{ConfigID: "c1", User: test.users})
			_, addErr := b.client.AddContactWay(t.Context(), tenant, wecom.AddContactWayRequest{User: test.users})
			if !errors.Is(err, test.want) || !errors.Is(addErr, test.want) {
				t.Errorf("update %v, add %v, want %v", err, addErr, test.want)
			}
			if test.want != nil && (b.stub.count(wecom.OpUpdate) > 0 || callError(t, err).Unknown) {
				t.Errorf("sent, or not surely unsent: %v", err)
			}
		})
	}
}

func TestListContactWays(t *testing.T) {
	pages := map[string]string{
		"":   `{"errcode":0,"contact_way":[{"config_id":"a"},{"config_id":"b"}],"next_cursor":"p2"}`,
		"p2": `{"errcode":0,"contact_way":[],"next_cursor":"p3"}`, // an empty page is not the last
		"p3": `{"errcode":0,"contact_way":[{"config_id":"c"}]}`,
	}
	for _, test := range []struct {
		name  string
		pages map[string]string
		stop  int // IDs after which the caller stops; 0: never
		want  []string
		calls int
		err   error
	}{
		{name: "all pages", pages: pages, want: []string{"a", "b", "c"}, calls: 3},
		{name: "the next page is asked for when it is reached", pages: pages, stop: 2, want: []string{"a", "b"}, calls: 1},
		{
			name: "an error ends it", want: []string{"a"}, calls: 2, err: wecom.ErrMalformedAnswer,
			pages: map[string]string{"": `{"errcode":0,"contact_way":[{"config_id":"a"}],"next_cursor":"p2"}`, "p2": `{}`},
		},
		{
			name: "a cursor that does not advance ends it", want: []string{"a"}, calls: 2, err: wecom.ErrMalformedAnswer,
			pages: map[string]string{"": `{"errcode":0,"contact_way":[{"config_id":"a"}],"next_cursor":"p2"}`, "p2": `{"errcode":0,"next_cursor":"p2"}`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, wecom.TokensOptions{})
			b.stub.pages = test.pages
			var got []string
			var err error
			for id, failed := range b.client.ListContactWays(t.Context(), tenant, wecom.ListContactWaysRequest{}) {
				if failed != nil {
					err = failed
					continue
				}
				if got = append(got, id); len(got) == test.stop {
					break
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" || !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v; IDs (-want +got):\n%s", err, test.err, diff)
			}
			if calls := b.stub.count(wecom.OpList); calls != test.calls {
				t.Errorf("%d calls, want %d", calls, test.calls)
			}
		})
	}
}

func TestBaseURL(t *testing.T) {
	for _, bad := range []string{"ftp://host", "host", "https://", "https://user:pw@host", "https://host?x=1", "https://host#f", "http://ho st"} {
		if _, err := wecom.NewEndpoint(wecom.EndpointOptions{BaseURL: bad}); err == nil {
			t.Errorf("accepted %q", bad)
		} else if strings.Contains(err.Error(), "pw") {
			t.Errorf("the password is in the error: %v", err)
		}
	}
	for _, good := range []string{"", "https://host", "http://host:8080/prefix/"} {
		if _, err := wecom.NewEndpoint(wecom.EndpointOptions{BaseURL: good}); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

func listAll(ctx context.Context, request wecom.ListContactWaysRequest) func(*wecom.Client) error {
	return func(c *wecom.Client) error {
		for _, err := range c.ListContactWays(ctx, tenant, request) {
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func many(n int) []string {
	users := make([]string, n)
	for i := range users {
		users[i] = fmt.Sprintf("u%d", i)
	}
	return users
}
