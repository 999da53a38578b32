package callback

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/recent"
	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
)

// ErrNoReceiver says that a tenant takes no callbacks, or that there is no such
// tenant.
var ErrNoReceiver = errors.New("the tenant takes no callbacks")

// Settings are what a tenant has agreed on with WeCom. Token and AESKey are
// secrets.
type Settings struct {
	Token  string
	AESKey string // WeCom's EncodingAESKey
	// ReceiveIDs are the corp ID and, for a provider's app, its suite ID: a
	// callback has to be meant for one of them and to be about one of them.
	ReceiveIDs []string
}

// Directory finds the settings of a tenant; ErrNoReceiver when there are none.
type Directory interface {
	Settings(ctx context.Context, tenant string) (Settings, error)
}

// receiver opens what is sent to one tenant.
type receiver struct {
	codecs []*wecomcrypto.Codec
	ids    []string
}

func newReceiver(s Settings) (*receiver, error) {
	r := &receiver{ids: s.ReceiveIDs}
	for _, id := range s.ReceiveIDs {
		codec, err := wecomcrypto.New(s.Token, s.AESKey, id)
		if err != nil {
			return nil, err
		}
		r.codecs = append(r.codecs, codec)
	}
	if len(r.codecs) == 0 {
		return nil, ErrNoReceiver
	}
	return r, nil
}

// try asks each codec until one does not say that the text is for somebody
// else. The signature is the same for all, so only a genuine callback is tried
// more than once.
func (r *receiver) try(open func(*wecomcrypto.Codec) ([]byte, error)) (text []byte, err error) {
	for _, codec := range r.codecs {
		if text, err = open(codec); !errors.Is(err, wecomcrypto.ErrReceiveID) {
			break
		}
	}
	return text, err
}

func (r *receiver) about(id string) bool { return slices.Contains(r.ids, id) }

// receivers remember the settings of tenants for a while.
type receivers struct {
	directory Directory
	keep      time.Duration
	now       func() time.Time
	known     *recent.Map[string, remembered]
}

type remembered struct {
	receiver *receiver // nil: the tenant has none
	until    time.Time
}

// of returns a tenant's receiver, or ErrNoReceiver. Tenants that are not there
// are remembered as well, so that a stranger does not make the store work, and
// what cannot be a tenant at all is not even remembered.
func (r *receivers) of(ctx context.Context, tenant string) (*receiver, error) {
	if !ident.Tenant(tenant) {
		return nil, ErrNoReceiver
	}
	if found, ok := r.known.Get(tenant); ok && r.now().Before(found.until) {
		if found.receiver == nil {
			return nil, ErrNoReceiver
		}
		return found.receiver, nil
	}
	settings, err := r.directory.Settings(ctx, tenant)
	var made *receiver
	if err == nil {
		made, err = newReceiver(settings)
	}
	if err != nil && !errors.Is(err, ErrNoReceiver) {
		return nil, err
	}
	r.known.Put(tenant, remembered{made, r.now().Add(r.keep)})
	return made, err
}
