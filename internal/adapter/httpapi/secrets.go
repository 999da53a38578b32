package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Secrets keeps what a tenant shares with WeCom and with the receivers of its
// notifications. Secrets go in and never come out.
type Secrets interface {
	PutCredentials(ctx context.Context, tenant, corpID, secret string) error
	PutCallback(ctx context.Context, tenant string, callback Callback) error
	// Describe returns what may be shown of both; zero where nothing is set.
	Describe(ctx context.Context, tenant string) (SecretsView, error)
	// PutChannels' error wraps notify.ErrInvalidChannels when it is the
	// caller's; its text is for him.
	PutChannels(ctx context.Context, tenant string, channels notify.Channels) error
	Channels(ctx context.Context, tenant string) (notify.Channels, error)
}

// ErrNoSealingKey says that this installation has no key to seal secrets with,
// so that it stores none.
var ErrNoSealingKey = errors.New("no key to seal secrets with")

// Callback is what a tenant has agreed on with WeCom for callbacks.
type Callback struct {
	Token, AESKey string
	ReceiveIDs    []string
}

// Kept says of a secret whether it is there, and which key sealed it.
type Kept struct {
	Set   bool
	KeyID string // "" when it is in clear
}

// SecretsView is what may be shown of credentials and callback settings.
type SecretsView struct {
	CorpID        string
	Secret        Kept
	CallbackToken Kept
	CallbackKey   Kept
	ReceiveIDs    []string
}

type keptBody struct {
	Set      bool   `json:"set"`
	SealedBy string `json:"sealed_by,omitempty"`
}

func keptOf(k Kept) keptBody { return keptBody{Set: k.Set, SealedBy: k.KeyID} }

type credentialsIn struct {
	CorpID string `json:"corp_id"`
	Secret string `json:"secret"`
}

type credentialsBody struct {
	CorpID string   `json:"corp_id"`
	Secret keptBody `json:"secret"`
}

// savedBody answers a write that is not of facts.
type savedBody struct {
	Saved bool `json:"saved"`
	// FanOut recomputes the tenant's codes with new credentials.
	FanOut *ticketBody `json:"fan_out,omitempty"`
}

// Bounds of what WeCom gives out; its own are shorter.
const (
	maxCorpID     = 64
	maxSecret     = 256
	aesKeyChars   = 43 // WeCom's page 90930
	maxReceiveIDs = 20
)

func (a *API) putCredentials(ctx context.Context, r *request) (answer, error) {
	in, err := decode[credentialsIn](r.body)
	if err != nil {
		return answer{}, err
	}
	if err := errors.Join(within("corp_id", in.CorpID, maxCorpID), withinSecret("secret", in.Secret, maxSecret)); err != nil {
		return answer{}, err
	}
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	if _, err := a.saved(a.o.Secrets.PutCredentials(ctx, r.tenant(), in.CorpID, in.Secret)); err != nil {
		return answer{}, err
	}
	// If the old ones were refused, nothing was pushed since.
	out, err := a.o.Registry.Recompute(ctx, fanout.Scope{Tenant: r.tenant()}, "credentials_changed")
	if err != nil {
		return answer{}, err
	}
	return answered(http.StatusOK, savedBody{Saved: true, FanOut: &ticketBody{ID: out.FanOut.ID, Epoch: out.FanOut.Epoch}})
}

func (a *API) getCredentials(ctx context.Context, r *request) (answer, error) {
	view, err := a.describe(ctx, r)
	if err != nil {
		return answer{}, err
	}
	return answered(http.StatusOK, credentialsBody{CorpID: view.CorpID, Secret: keptOf(view.Secret)})
}

func (a *API) describe(ctx context.Context, r *request) (SecretsView, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return SecretsView{}, err
	}
	return a.o.Secrets.Describe(ctx, r.tenant())
}

type callbackIn struct {
	Token      string   `json:"token"`
	AESKey     string   `json:"aes_key"`
	ReceiveIDs []string `json:"receive_ids"`
}

type callbackBody struct {
	Token      keptBody `json:"token"`
	AESKey     keptBody `json:"aes_key"`
	ReceiveIDs []string `json:"receive_ids"`
}

func (in callbackIn) check() error {
	if err := withinSecret("token", in.Token, maxSecret); err != nil {
		return err
	}
	if len(in.AESKey) != aesKeyChars {
		return &roster.InvalidError{
			Field: "aes_key", Value: strconv.Itoa(len(in.AESKey)) + " bytes", Want: "WeCom's EncodingAESKey, of 43 characters",
		}
	}
	if n := len(in.ReceiveIDs); n < 1 || n > maxReceiveIDs {
		return &roster.InvalidError{
			Field: "receive_ids", Value: strconv.Itoa(n) + " entries", Want: "the corp ID, or the suite IDs: 1 to 20",
		}
	}
	for i, id := range in.ReceiveIDs {
		if err := within("receive_ids["+strconv.Itoa(i)+"]", id, maxCorpID); err != nil {
			return err
		}
	}
	return nil
}

func (a *API) putCallback(ctx context.Context, r *request) (answer, error) {
	in, err := decode[callbackIn](r.body)
	if err != nil {
		return answer{}, err
	}
	if err := in.check(); err != nil {
		return answer{}, err
	}
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	return a.saved(a.o.Secrets.PutCallback(ctx, r.tenant(), Callback(in)))
}

func (a *API) getCallback(ctx context.Context, r *request) (answer, error) {
	view, err := a.describe(ctx, r)
	if err != nil {
		return answer{}, err
	}
	return answered(http.StatusOK, callbackBody{
		Token: keptOf(view.CallbackToken), AESKey: keptOf(view.CallbackKey), ReceiveIDs: orEmpty(view.ReceiveIDs),
	})
}

type channelsIn struct {
	Webhook   *webhookIn    `json:"webhook"`
	Robot     *robotIn      `json:"robot"`
	DailyPool int           `json:"daily_pool"`
	Kinds     []notify.Kind `json:"kinds"`
}

type webhookIn struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

type robotIn struct {
	Key string `json:"key"`
}

type channelsBody struct {
	Webhook   webhookBody   `json:"webhook"`
	Robot     keptBody      `json:"robot"`
	DailyPool int           `json:"daily_pool"`
	Kinds     []notify.Kind `json:"kinds"`
}

// webhookBody shows where a webhook goes, without the path: a URL may hold a
// key of its receiver.
type webhookBody struct {
	Set    bool   `json:"set"`
	Origin string `json:"origin,omitempty"`
}

func (a *API) putNotifications(ctx context.Context, r *request) (answer, error) {
	in, err := decode[channelsIn](r.body)
	if err != nil {
		return answer{}, err
	}
	channels := notify.Channels{DailyPool: in.DailyPool, Kinds: in.Kinds}
	if in.Webhook != nil {
		channels.Webhook = notify.Webhook(*in.Webhook)
	}
	if in.Robot != nil {
		channels.Robot = notify.Robot(*in.Robot)
	}
	if err := channels.Validate(); err != nil {
		p := newProblem(http.StatusUnprocessableEntity, codeInvalid, err.Error())
		return answer{}, p
	}
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	return a.saved(a.o.Secrets.PutChannels(ctx, r.tenant(), channels))
}

func (a *API) getNotifications(ctx context.Context, r *request) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	channels, err := a.o.Secrets.Channels(ctx, r.tenant())
	if err != nil {
		return answer{}, err
	}
	pool := channels.DailyPool
	if pool == 0 {
		pool = notify.DefaultDailyPool
	}
	return answered(http.StatusOK, channelsBody{
		Webhook: webhookBody{Set: channels.Has(notify.ViaWebhook), Origin: originOf(channels.Webhook.URL)},
		Robot:   keptBody{Set: channels.Has(notify.ViaRobot)}, DailyPool: pool, Kinds: orEmpty(channels.Kinds),
	})
}

// originOf returns scheme and host; "" of what is no URL.
func originOf(text string) string {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" {
		return ""
	}
	return parsed.Scheme + "://" + parsed.Host
}

func (a *API) saved(err error) (answer, error) {
	if errors.Is(err, ErrNoSealingKey) {
		return answer{}, unavailable("this installation has no key to seal secrets with: set ROLLCALL_SEAL_KEYS")
	}
	if err != nil {
		return answer{}, err
	}
	return answered(http.StatusOK, savedBody{Saved: true})
}

func within(field, value string, limit int) error {
	if value == "" || len(value) > limit {
		return &roster.InvalidError{Field: field, Value: value, Want: "1 to " + strconv.Itoa(limit) + " bytes"}
	}
	return nil
}

// withinSecret is within; the error does not repeat the value.
func withinSecret(field, value string, limit int) error {
	if value == "" || len(value) > limit {
		return &roster.InvalidError{
			Field: field, Value: strconv.Itoa(len(value)) + " bytes", Want: "1 to " + strconv.Itoa(limit) + " bytes",
		}
	}
	return nil
}
