package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that a page loads.
type asset struct {
	plain string // its name without the hash
	media string
	body  []byte
}

// readAssets names each file by its content, so that a browser may keep it for
// ever.
func readAssets() (map[string]asset, error) {
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		return nil, err
	}
	all := make(map[string]asset, len(entries))
	for _, entry := range entries {
		body, err := assetFiles.ReadFile("assets/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", entry.Name(), err)
		}
		hash := sha256.Sum256(body)
		ext := path.Ext(entry.Name())
		media := mime.TypeByExtension(ext)
		if ext == ".js" {
			media = "text/javascript; charset=utf-8" // whatever the machine's own table says
		}
		name := strings.TrimSuffix(entry.Name(), ext) + "." + hex.EncodeToString(hash[:6]) + ext
		all[name] = asset{plain: entry.Name(), media: media, body: body}
	}
	return all, nil
}

// addresses are those of the assets, by their names without a hash.
func (s *screen) addresses() map[string]string {
	all := make(map[string]string, len(s.assets))
	for name, one := range s.assets {
		all[one.plain] = "/console/assets/" + name
	}
	return all
}

func (s *screen) serveAsset(w http.ResponseWriter, r *http.Request) {
	one, there := s.assets[r.PathValue("name")]
	if !there {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", one.media)
	_, _ = w.Write(one.body) // the client went away: nobody to tell
}
