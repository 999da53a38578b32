package console

import (
	"net/http"
	"slices"
	"strings"
)

// look is how a person wants to read.
type look struct {
	lang  lang
	theme string // "light", "dark", or "auto": as the browser has it
}

// lookCookie keeps what was chosen: LANGUAGE.THEME, each may be "".
const lookCookie = "rollcall_look"

var themes = []string{"auto", "light", "dark"}

func lookOf(r *http.Request) look {
	seen := look{lang: preferred(r.Header.Get("Accept-Language")), theme: "auto"}
	cookie, err := r.Cookie(lookCookie)
	if err != nil {
		return seen
	}
	tag, theme, _ := strings.Cut(cookie.Value, ".")
	if known, ok := langOf(tag); ok {
		seen.lang = known
	}
	if slices.Contains(themes, theme) {
		seen.theme = theme
	}
	return seen
}

// postLook keeps a choice and goes back. It changes nothing that anybody else
// sees, so it needs no session.
func (c *Console) postLook(v *visit) error {
	chosen := v.look
	if known, ok := langOf(v.PostFormValue("lang")); ok {
		chosen.lang = known
	}
	if theme := v.PostFormValue("theme"); slices.Contains(themes, theme) {
		chosen.theme = theme
	}
	http.SetCookie(v.w, &http.Cookie{ //nolint:gosec // G124: it is no secret, and says nothing of the person
		Name: lookCookie, Value: string(chosen.lang) + "." + chosen.theme, Path: "/console", MaxAge: 365 * 24 * 3600,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: !plain(v.Request),
	})
	return v.redirect(localPath(v.PostFormValue("next")))
}

// preferred picks the language that an Accept-Language header names first of
// those that there are. Browsers put what is liked best first.
func preferred(header string) lang {
	for part := range strings.SplitSeq(header, ",") {
		tag, _, _ := strings.Cut(part, ";")
		main, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		if known, ok := langOf(main); ok {
			return known
		}
	}
	return english
}
