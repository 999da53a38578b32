package httpapi

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/registry"
)

// The size of a page, in entries.
const (
	DefaultPage = 100
	MaxPage     = 500
)

// cursorVersion begins what a cursor holds, so that another form can follow.
const cursorVersion = "1:"

// pageOf reads the query of a list. One entry more than the page is asked for:
// it tells whether there is another page.
func pageOf(query url.Values) (page registry.Page, err error) {
	for name := range query {
		if name != "cursor" && name != "limit" {
			return registry.Page{}, wrong(http.StatusBadRequest, codeUnknownField, name, "", "cursor or limit")
		}
	}
	page.Limit = DefaultPage
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > MaxPage {
			return registry.Page{}, wrong(http.StatusUnprocessableEntity, codeInvalid, "limit", text, "1 to "+strconv.Itoa(MaxPage))
		}
		page.Limit = n
	}
	text := query.Get("cursor")
	if text == "" {
		return page, nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	after, found := strings.CutPrefix(string(plain), cursorVersion)
	if err != nil || !found {
		return registry.Page{}, wrong(http.StatusUnprocessableEntity, codeInvalid, "cursor", text, "the next_cursor of a page before")
	}
	page.After = after
	return page, nil
}

func cursorAfter(id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorVersion + id))
}

// listBody is one page of a list.
type listBody[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor,omitempty"` // absent on the last page
}

// listed answers a page. list gets one entry more than the page, show writes
// one, id names it.
func listed[E, T any](r *request, list func(registry.Page) ([]E, error), show func(E) T, id func(E) string) (answer, error) {
	page, err := pageOf(r.URL.Query())
	if err != nil {
		return answer{}, err
	}
	entries, err := list(registry.Page{After: page.After, Limit: page.Limit + 1})
	if err != nil {
		return answer{}, err
	}
	body := listBody[T]{Items: make([]T, 0, len(entries))}
	if len(entries) > page.Limit {
		entries = entries[:page.Limit]
		body.NextCursor = cursorAfter(id(entries[page.Limit-1]))
	}
	for _, entry := range entries {
		body.Items = append(body.Items, show(entry))
	}
	return answered(http.StatusOK, body)
}
