package console

import (
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/ratelimit"
	"github.com/rollcall-dev/rollcall/internal/recent"
	"github.com/rollcall-dev/rollcall/internal/seal"
)

// Options of a Console. All but Proxy are required.
type Options struct {
	// Keys seal sessions: the first seals, all open. Every process that shares
	// them accepts the others' sessions.
	Keys *seal.Keyring
	// Life is how long a session lasts at most, Idle how long without a page.
	Life, Idle time.Duration
	// SignIns is how often one address may try to sign in.
	SignIns ratelimit.Limit
	// ClientOf tells addresses apart.
	ClientOf func(*http.Request) netip.Prefix
	// Proxy lets in whom a proxy in front has signed in; nil: nobody.
	Proxy *Proxy
	// Live is the time between two looks of a live page.
	Live time.Duration
	// Streams is how many pages may be live in this process, EachStreams how many
	// of one session.
	Streams, EachStreams int
	Version              string
	Now                  func() time.Time
	Logger               *slog.Logger
}

// Bounds of what is remembered.
const (
	maxPaces  = 20_000 // addresses
	maxSigned = 10_000 // sessions that were ended here
)

// Console serves pages below /console/. It is safe for concurrent use.
type Console struct {
	Ports
	opts   Options
	screen *screen
	paces  *ratelimit.Keyed[netip.Prefix]
	ended  *recent.Map[string, struct{}] // sessions that are known to be signed out
	live   *streams
	stop   chan struct{}
	once   sync.Once
	looked *recent.Answer[board.View]
}

// New returns a Console. It starts nothing.
func New(ports Ports, opts Options) (*Console, error) {
	screen, err := newScreen()
	if err != nil {
		return nil, err
	}
	return &Console{
		Ports: ports, opts: opts, screen: screen,
		paces: ratelimit.NewKeyed[netip.Prefix](opts.SignIns, maxPaces, opts.Now),
		ended: recent.NewMap[string, struct{}](maxSigned),
		live:  &streams{most: opts.Streams, each: opts.EachStreams, of: map[string]int{}},
		stop:  make(chan struct{}), looked: recent.NewAnswer(viewFor, opts.Now, lookAtBoard(ports.Board)),
	}, nil
}

// Stop ends the live pages, so that a server that stops need not wait for them.
func (c *Console) Stop() { c.once.Do(func() { close(c.stop) }) }

// Handler serves /console/ and what is below.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /console", http.RedirectHandler(root, http.StatusSeeOther))
	mux.HandleFunc("GET /console/assets/{name}", c.screen.serveAsset)
	open := func(pattern string, handle func(*visit) error) { mux.Handle(pattern, c.visited(handle)) }
	open("GET /console/signin", c.getSignIn)
	open("POST /console/signin", c.postSignIn)
	open("POST /console/look", c.postLook)
	open("/console/", func(*visit) error { return notFound })
	seen := func(pattern string, handle func(*visit) error) { open(pattern, c.known(handle)) }
	seen("GET /console/{$}", c.getOverview)
	seen("POST /console/signout", c.postSignOut)
	seen("GET "+livePath, c.getLive)
	seen("GET /console/search", c.getSearch)
	seen("GET /console/tenants/{tenant}", c.getTenant)
	seen("GET /console/tenants/{tenant}/staff", c.getStaff)
	seen("GET /console/tenants/{tenant}/codes/{code}", c.getCode)
	seen("POST /console/tenants/{tenant}/codes/{code}", c.postCode)
	seen("GET /console/fanouts", c.getFanOuts)
	seen("GET /console/dirty", c.getDirty)
	seen("GET /console/letters", c.getLetters)
	seen("GET /console/letter", c.getLetter)
	seen("GET /console/decisions", c.getDecisions)
	seen("GET /console/do/{action}", c.getAction)
	seen("POST /console/do/{action}", c.postAction)
	return c.guarded(mux)
}

// Addresses: of the overview, and of live figures.
const (
	root     = "/console/"
	livePath = root + "live"
)
