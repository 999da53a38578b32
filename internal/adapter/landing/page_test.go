package landing

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/draw"
)

var errGone = errors.New("gone")

func TestThePageShowsWhoWasDrawn(t *testing.T) {
	h := newHouse(t)
	w := h.open()
	body := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(body, `<img src="`+html.EscapeString(h.url)+`"`) {
		t.Errorf("%d\n%s", w.Code, body)
	}
	if strings.Contains(body, "li.na") {
		t.Error("the page tells a staff ID")
	}
	if len(h.asked) != 1 || h.asked[0].Code != "c1" || h.asked[0].Surface != draw.Page || h.asked[0].Grant != nil || h.asked[0].From != "203.0.113.0/24" {
		t.Errorf("asked %+v", h.asked)
	}
}

// What the page says when nobody is shown, by why.
func TestThePageWithoutAMember(t *testing.T) {
	tests := map[string]struct {
		err    error
		status int
		title  string
		retry  string
		link   bool
	}{
		"nobody free":         {draw.ErrExhausted, http.StatusConflict, "Everyone is busy", "2", true},
		"no such code":        {draw.ErrUnknown, http.StatusNotFound, "Page not found", "", false},
		"WeCom picks":         {draw.ErrNative, http.StatusUnprocessableEntity, "Page not found", "", false},
		"deleted":             {draw.ErrDeleted, http.StatusGone, "No longer in use", "", false},
		"Redis gone":          {draw.ErrUnavailable, http.StatusServiceUnavailable, "Not available just now", "1", true},
		"contradicting facts": {draw.ErrInvalid, http.StatusServiceUnavailable, "Not available just now", "60", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.err = tt.err
			w := h.open("Accept-Language: en")
			body := w.Body.String()
			if w.Code != tt.status || !strings.Contains(body, "<h1>"+tt.title+"</h1>") || w.Header().Get("Retry-After") != tt.retry {
				t.Errorf("%d, Retry-After %q\n%s", w.Code, w.Header().Get("Retry-After"), body)
			}
			if strings.Contains(body, "<a href") != tt.link || strings.Contains(body, "<img") || strings.Contains(body, "secret-detail") {
				t.Errorf("page:\n%s", body)
			}
			// Whoever tries again after an answer that may be lost gets that one.
			if cookies := w.Result().Cookies(); len(cookies) > 0 != errors.Is(tt.err, draw.ErrUnavailable) {
				t.Errorf("cookies %v", cookies)
			}
		})
	}
}

// Whoever was drawn and cannot be shown is not kept for a reload: that finds
// somebody else.
func TestNoQRCode(t *testing.T) {
	h := newHouse(t)
	h.url, h.wayErr = "", errGone
	w := h.open("Accept-Language: en", "Cookie: rollcall_visit="+strings.Repeat("A", 26))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "Not available just now") {
		t.Errorf("%d\n%s", w.Code, w.Body)
	}
	if cookies := w.Result().Cookies(); len(cookies) != 1 || cookies[0].MaxAge >= 0 {
		t.Errorf("cookies %v: the visit has to be forgotten", cookies)
	}
	if diff := cmp.Diff([]string{"page no_way"}, h.endings); diff != "" || !strings.Contains(h.log.String(), "staff=li.na") {
		t.Errorf("told %v, log %s", h.endings, &h.log)
	}
}

// Nobody is drawn for whoever does not look like a person opening the page.
func TestOnlyAPersonDraws(t *testing.T) {
	const page = `<button>显示二维码</button>`
	tests := map[string]struct {
		headers []string
		draws   bool
		status  int
	}{
		"a phone":                        {nil, true, 200},
		"a phone that says it navigates": {[]string{"Sec-Fetch-Dest: document"}, true, 200},
		"a prefetch":                     {[]string{"Sec-Purpose: prefetch;anonymous-client-ip"}, false, 503},
		"a prerender":                    {[]string{"Sec-Purpose: prefetch;prerender"}, false, 503},
		"an older prefetch":              {[]string{"Purpose: prefetch"}, false, 503},
		"Firefox ahead":                  {[]string{"X-Moz: prefetch"}, false, 503},
		"Safari's preview":               {[]string{"X-Purpose: preview"}, false, 503},
		"anything will do":               {[]string{"Accept: */*"}, false, 200},
		"no Accept":                      {[]string{"Accept:"}, false, 200},
		"no User-Agent":                  {[]string{"User-Agent:"}, false, 200},
		"a search engine":                {[]string{"User-Agent: Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"}, false, 200},
		"a spider":                       {[]string{"User-Agent: Mozilla/5.0 (compatible; Baiduspider/2.0)"}, false, 200},
		"a chat":                         {[]string{"User-Agent: facebookexternalhit/1.1"}, false, 200},
		"an image":                       {[]string{"Sec-Fetch-Dest: image"}, false, 200},
		"a frame":                        {[]string{"Sec-Fetch-Dest: iframe"}, false, 200},
		"a phone called Cubot":           {[]string{"User-Agent: Mozilla/5.0 (Linux; Android 9; CUBOT_X19) Mobile Safari/537.36"}, true, 200},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			w := h.open(tt.headers...)
			if len(h.asked) > 0 != tt.draws || w.Code != tt.status {
				t.Errorf("%d draws, status %d", len(h.asked), w.Code)
			}
			if !tt.draws && cmp.Diff([]string{"page no_visit"}, h.endings) != "" {
				t.Errorf("told %v", h.endings)
			}
			if shown := strings.Contains(w.Body.String(), page); shown != (!tt.draws && tt.status == 200) {
				t.Errorf("a button: %v", shown)
			}
		})
	}
}

func TestHEADDrawsNobody(t *testing.T) {
	h := newHouse(t)
	w := httptest.NewRecorder()
	h.site.Page().ServeHTTP(w, request(http.MethodHead, "/c/c1"))
	if w.Code != http.StatusOK || len(h.asked) > 0 {
		t.Errorf("%d, asked %v", w.Code, h.asked)
	}
}

// The button is for a person whose browser looks like a machine.
func TestTheButtonDraws(t *testing.T) {
	h := newHouse(t)
	w := httptest.NewRecorder()
	h.site.Page().ServeHTTP(w, request(http.MethodPost, "/c/c1", "Accept: */*"))
	if w.Code != http.StatusOK || len(h.asked) != 1 {
		t.Errorf("%d, asked %v", w.Code, h.asked)
	}
}

// A reload names the same visit, so the desk gives the same answer.
func TestAReloadIsTheSameVisit(t *testing.T) {
	h := newHouse(t)
	first := h.open().Result().Cookies()
	if len(first) != 1 {
		t.Fatalf("cookies %v", first)
	}
	c := first[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 60 || c.Path != "" || c.Secure {
		t.Errorf("cookie %+v", c)
	}
	second := h.open("Cookie: " + c.Name + "=" + c.Value).Result().Cookies()
	if len(second) != 1 || second[0].Value != c.Value || h.asked[1].Key != h.asked[0].Key {
		t.Errorf("a reload: cookies %v, asked %+v", second, h.asked)
	}
	h.open()
	if h.asked[2].Key == h.asked[0].Key || h.asked[2].Key == "" {
		t.Errorf("another visit has the key %q", h.asked[2].Key)
	}
	for _, forged := range []string{"", "short", strings.Repeat("A", 27), strings.Repeat("a", 26), strings.Repeat("A", 25) + "%"} {
		h.asked = nil
		if h.open("Cookie: " + c.Name + "=" + forged); h.asked[0].Key == "page\x00"+forged {
			t.Errorf("the visit %q is taken as it came", forged)
		}
	}
}

func TestTheCookieIsSecureWhereTheConnectionIs(t *testing.T) {
	for name, tt := range map[string]struct {
		remote string
		secure bool
	}{
		"our proxy says https":        {"10.1.2.3:1", true},
		"a stranger says so":          {"203.0.113.7:1", false},
		"an address we cannot read":   {"@", false},
		"our proxy, IPv4 within IPv6": {"[::ffff:10.1.2.3]:1", true},
	} {
		h := newHouse(t)
		r := request(http.MethodGet, "/c/c1", "X-Forwarded-Proto: https")
		r.RemoteAddr = tt.remote
		w := httptest.NewRecorder()
		h.site.Page().ServeHTTP(w, r)
		if got := w.Result().Cookies()[0].Secure; got != tt.secure {
			t.Errorf("%s: secure %v", name, got)
		}
	}
}

// One address opens 20 pages at once and 5 a second; the others do not notice.
func TestOneAddressHasToWait(t *testing.T) {
	h := newHouse(t)
	for range 20 {
		if w := h.open(); w.Code != http.StatusOK {
			t.Fatalf("%d within the burst", w.Code)
		}
	}
	w := h.open("Accept-Language: en")
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "Too many visits") {
		t.Errorf("%d, Retry-After %q\n%s", w.Code, w.Header().Get("Retry-After"), w.Body)
	}
	if diff := cmp.Diff([]string{"page limited"}, h.endings); diff != "" || len(h.asked) != 20 {
		t.Errorf("told %v, %d draws", h.endings, len(h.asked))
	}
	r := request(http.MethodGet, "/c/c1")
	r.RemoteAddr = "203.0.113.8:50000"
	other := httptest.NewRecorder()
	h.site.Page().ServeHTTP(other, r)
	if other.Code != http.StatusOK {
		t.Errorf("another address: %d", other.Code)
	}
	h.now = h.now.Add(200 * time.Millisecond)
	if w := h.open(); w.Code != http.StatusOK {
		t.Errorf("a fifth of a second later: %d", w.Code)
	}
	if w := h.open(); w.Code != http.StatusTooManyRequests {
		t.Errorf("and once more: %d", w.Code)
	}
}

// Every answer of the page, whatever it shows, is closed to caches, frames,
// scripts and referrers.
func TestEveryPageIsClosed(t *testing.T) {
	h := newHouse(t)
	pages := map[string]*httptest.ResponseRecorder{
		"member": h.open(), "cover": h.open("Accept: */*"), "prefetch": h.open("Sec-Purpose: prefetch"),
	}
	h.err = draw.ErrExhausted
	pages["busy"] = h.open()
	for range 20 {
		pages["hasty"] = h.open()
	}
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`)
	for name, w := range pages {
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
			"X-Robots-Tag": "noindex, nofollow",
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %s: %q, want %q", name, header, got, want)
			}
		}
		policy := w.Header().Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'; ", "img-src https: http://127.0.0.1:9; ", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: policy %q lacks %s", name, policy, want)
			}
		}
		if name == "prefetch" {
			continue
		}
		sheet := style.FindSubmatch(w.Body.Bytes())
		if sheet == nil {
			t.Fatalf("%s: no style", name)
		}
		sum := sha256.Sum256(sheet[1])
		if hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, hash) {
			t.Errorf("%s: the policy %q does not allow the page's own style, %s", name, policy, hash)
		}
		if strings.Contains(w.Body.String(), "<script") || strings.Contains(w.Body.String(), " style=") || strings.Contains(w.Body.String(), " on") && regexp.MustCompile(` on[a-z]+=`).Match(w.Body.Bytes()) {
			t.Errorf("%s: something that the policy forbids:\n%s", name, w.Body)
		}
	}
}

// A QR code's URL comes from WeCom; whatever it is, it stays an image's.
func TestTheURLOfTheQRCodeIsEscaped(t *testing.T) {
	h := newHouse(t)
	for _, url := range []string{`https://x/"><script>alert(1)</script>`, `javascript:alert(1)`, `https://x/' onload='x`} {
		h.url = url
		h.now = h.now.Add(time.Hour)
		body := h.open().Body.String()
		if strings.Contains(body, "<script") || strings.Contains(body, `"javascript:`) || strings.Contains(body, `' onload='`) {
			t.Errorf("%s:\n%s", url, body)
		}
	}
}

func TestSourcesThatWouldBreakThePolicy(t *testing.T) {
	for _, source := range []string{"", "https:; script-src *", "'unsafe-inline'", "a b", "a,b"} {
		if _, err := newScreen([]string{"https:", source}); !errors.Is(err, errSource) {
			t.Errorf("%q: %v", source, err)
		}
	}
}
