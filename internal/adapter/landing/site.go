package landing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/ratelimit"
)

// Desk gives customers their members.
type Desk interface {
	Draw(ctx context.Context, request draw.Request) (draw.Answer, error)
	Last(ctx context.Context, code string, grant access.Grant) ([]draw.Past, error)
}

// Ways knows the QR codes of single members.
type Ways interface {
	// MemberWay returns the URL of the QR code with which a customer adds a
	// member, so that the addition counts for the code.
	MemberWay(ctx context.Context, ref push.Ref, staff string) (qrURL string, err error)
}

// Observer is told of requests that end before a draw is tried.
type Observer interface {
	Ended(ctx context.Context, surface draw.Surface, ending draw.Ending, took time.Duration)
}

// maxPaces is how many addresses are told apart: about 5 MiB.
const maxPaces = 20_000

// Ports are what a Site needs from the world. All are required.
type Ports struct {
	Desk     Desk
	Ways     Ways
	Observer Observer
	// Grant returns what a request may do; false when nobody was authenticated.
	Grant func(*http.Request) (access.Grant, bool)
}

// Options of a Site. All are required.
type Options struct {
	// Pace is how often one address may open the page.
	Pace ratelimit.Limit
	// Proxies are the reverse proxies whose word on the client's address counts.
	Proxies Proxies
	// ImageSources are the CSP sources that QR codes may come from.
	ImageSources []string
	// RepeatWithin is how long a reload shows the same member, 1 s or more;
	// draw keys have to be kept that long.
	RepeatWithin time.Duration
	Now          func() time.Time
	Logger       *slog.Logger
}

// Site serves draws. It is safe for concurrent use.
type Site struct {
	Ports
	opts   Options
	ways   *ways
	paces  *ratelimit.Keyed[netip.Prefix] // by subscriber
	screen *screen
}

// New returns a Site.
func New(ports Ports, opts Options) (*Site, error) {
	screen, err := newScreen(opts.ImageSources)
	if err != nil {
		return nil, fmt.Errorf("landing page: %w", err)
	}
	return &Site{
		Ports:  ports,
		opts:   opts,
		ways:   newWays(ports.Ways, opts.Now),
		paces:  ratelimit.NewKeyed[netip.Prefix](opts.Pace, maxPaces, opts.Now),
		screen: screen,
	}, nil
}

// API returns the handler of POST and GET /v1/draw/{code}. The caller
// authenticates before it.
func (s *Site) API() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/draw/{code}", s.serveDraw)
	return mux
}

// Page returns the handler of /c/{code}.
func (s *Site) Page() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /c/{code}", s.getPage)
	mux.HandleFunc("POST /c/{code}", s.postPage)
	return mux
}
