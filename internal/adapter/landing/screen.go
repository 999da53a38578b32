package landing

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

var (
	//go:embed page.html
	pageSource string
	//go:embed page.css
	pageStyle string
)

// screen makes pages.
type screen struct {
	page   *template.Template
	policy string // Content-Security-Policy
}

// view is what one page shows. image is the URL of a QR code, "" for none.
type view struct {
	name  viewName
	image string
}

var errSource = errors.New("not a CSP source")

// newScreen returns a screen that shows images from the sources.
func newScreen(imageSources []string) (*screen, error) {
	for _, source := range imageSources {
		if source == "" || strings.ContainsAny(source, ";, \t\r\n'\"") {
			return nil, fmt.Errorf("image source %q: %w", source, errSource)
		}
	}
	page, err := template.New("page").Parse(strings.Replace(pageSource, "{style}", pageStyle, 1))
	if err != nil {
		return nil, fmt.Errorf("parse the page: %w", err)
	}
	style := sha256.Sum256([]byte(pageStyle))
	policy := []string{
		"default-src 'none'",
		"img-src " + strings.Join(imageSources, " "),
		"style-src 'sha256-" + base64.StdEncoding.EncodeToString(style[:]) + "'",
		"form-action 'self'",
		"base-uri 'none'",
		"frame-ancestors 'none'",
	}
	return &screen{page: page, policy: strings.Join(policy, "; ")}, nil
}

// header sets what every answer of the page has.
func (s *screen) header(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", s.policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Vary", "Accept-Language, Cookie")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex, nofollow")
}

// show answers with a view in the visitor's language.
func (s *screen) show(w http.ResponseWriter, r *http.Request, status int, v view) {
	lang := preferred(r.Header.Get("Accept-Language"))
	said := lang.views[v.name]
	var body bytes.Buffer
	err := s.page.Execute(&body, struct {
		Lang, Title, Text, Action, Image, Alt string
		Form                                  bool
	}{lang.tag, said.Title, said.Text, said.Action, v.image, lang.image, v.name == cover})
	s.header(w)
	if err != nil { // only a mistake in the template, which the tests would show
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", lang.tag)
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the client went away: nobody to tell
}
