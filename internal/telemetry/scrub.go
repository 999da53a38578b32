package telemetry

import (
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/config"
)

var (
	// namedSecret finds a secret by its name in a query, a form or a JSON
	// body: WeCom takes the access token in the URL, and *url.Error prints
	// the URL.
	namedSecret = regexp.MustCompile(`(?i)((?:access_?token|secret|ticket|password|passwd)["']?\s*[=:]\s*["']?)[^&\s"',}]+`)
	// userInfo finds user and password in a URL.
	userInfo = regexp.MustCompile(`://[^/?#\s"']+@`)
)

// Scrub removes what looks like a secret from a text that is about to be
// shown: parameters named like one, and user and password of a URL. It is the
// second guard; the first is not to put a secret into a text.
func Scrub(text string) string {
	if !strings.ContainsAny(text, "=:") {
		return text
	}
	text = namedSecret.ReplaceAllString(text, "${1}"+config.Redacted)
	return userInfo.ReplaceAllString(text, "://"+config.Redacted+"@")
}

// secretEndings are how the key of a secret ends, in lower case and without
// '_' and '-'.
var secretEndings = []string{"token", "secret", "password", "passwd", "authorization", "cookie", "aeskey", "apikey", "tokenkey", "ticket"}

func secretKey(key string) bool {
	key = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
	return slices.ContainsFunc(secretEndings, func(ending string) bool { return strings.HasSuffix(key, ending) })
}

// scrubAttr is the ReplaceAttr of the log handlers.
func scrubAttr(groups []string, a slog.Attr) slog.Attr {
	if secretKey(a.Key) || slices.ContainsFunc(groups, secretKey) {
		return slog.String(a.Key, config.Redacted)
	}
	switch a.Value.Kind() {
	case slog.KindString:
		return slog.String(a.Key, Scrub(a.Value.String()))
	case slog.KindAny:
		return scrubAny(a)
	default:
		return a
	}
}

// scrubAny looks at what a value prints, and leaves it as it is unless that
// holds a secret.
func scrubAny(a slog.Attr) slog.Attr {
	var text string
	switch v := a.Value.Any().(type) {
	case error:
		text = v.Error()
	case fmt.Stringer:
		text = v.String()
	default:
		return a
	}
	if scrubbed := Scrub(text); scrubbed != text {
		return slog.String(a.Key, scrubbed)
	}
	return a
}
