package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
)

//go:embed pages/*.html
var pageFiles embed.FS

// screen makes pages, in each language.
type screen struct {
	pages  map[lang]map[string]*template.Template
	assets map[string]asset // by the name with its hash
}

// page is what every page has.
type page struct {
	Title string // key, or a text that is no key
	Named string // what the title is of: a tenant, a code
	Nav   string // which entry of the navigation is the page's
	Zone  *time.Location
	Live  string // address of the page's live figures; "" is none

	Lang    lang
	Theme   string
	Now     time.Time
	Self    string // address of the page, to come back to
	By      string // who has signed in; "" is nobody
	Grant   access.Grant
	Leaves  bool   // the visitor can sign out here: no proxy has signed him in
	Form    string // has to come back with each form
	Query   string // of the search field
	Version string
	Assets  map[string]string // addresses, by name
	Body    any
}

// May reports whether the visitor has a scope for a tenant.
func (p page) May(scope, tenant string) bool { return p.Grant.Allows(access.Scope(scope), tenant) }

// Everything reports whether the visitor reaches all tenants.
func (p page) Everything() bool { return p.Grant.Tenant == "" }

func newScreen() (*screen, error) {
	s := &screen{pages: map[lang]map[string]*template.Template{}}
	var err error
	if s.assets, err = readAssets(); err != nil {
		return nil, err
	}
	entries, err := pageFiles.ReadDir("pages")
	if err != nil {
		return nil, err
	}
	for _, l := range langs {
		s.pages[l] = map[string]*template.Template{}
		base, err := template.New("base").Funcs(funcs(l)).ParseFS(pageFiles, "pages/_*.html")
		if err != nil {
			return nil, fmt.Errorf("parse the console's frame: %w", err)
		}
		for _, entry := range entries {
			name := strings.TrimSuffix(entry.Name(), ".html")
			if strings.HasPrefix(name, "_") {
				continue
			}
			if s.pages[l][name], err = template.Must(base.Clone()).ParseFS(pageFiles, "pages/"+entry.Name()); err != nil {
				return nil, fmt.Errorf("parse a page of the console: %w", err)
			}
		}
	}
	return s, nil
}

// show answers with a page.
func (c *Console) show(v *visit, status int, name string, p page, body any) error {
	text, err := c.render(v, name, "frame", p, body)
	if err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", v.look.lang.tag())
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Vary", "Accept-Language, Cookie")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(text) // the client went away: nobody to tell
	return nil
}

// render makes a part of a page.
func (c *Console) render(v *visit, name, part string, p page, body any) ([]byte, error) {
	p.Lang, p.Theme, p.Now, p.Self, p.By = v.look.lang, v.look.theme, v.now, v.URL.RequestURI(), v.by
	p.Grant, p.Leaves = v.grant, v.session.Token != ""
	p.Form, p.Version, p.Assets, p.Body = v.session.Form, c.opts.Version, c.screen.addresses(), body
	if v.Method != http.MethodGet || len(p.Self) > maxAddress {
		p.Self = v.URL.EscapedPath()
	}
	if p.Zone == nil {
		p.Zone = time.UTC
	}
	var text bytes.Buffer
	if err := c.screen.pages[v.look.lang][name].ExecuteTemplate(&text, part, p); err != nil {
		return nil, fmt.Errorf("make the page %s: %w", name, err)
	}
	return text.Bytes(), nil
}

// maxAddress is the most bytes of an address that a form repeats.
const maxAddress = 1024
