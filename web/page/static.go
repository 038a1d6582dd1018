package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// StaticPrefix is where Static is mounted.
const StaticPrefix = "/anteroom-static/"

//go:embed static
var files embed.FS

// assets are the files by their hashed name, paths their addresses by file; both are
// read-only.
var assets, paths = hashAssets()

type asset struct {
	data  []byte
	media string
}

func hashAssets() (byName map[string]asset, byFile map[string]string) {
	byName, byFile = map[string]asset{}, map[string]string{}
	for file, media := range map[string]string{
		"queue.css": "text/css; charset=utf-8", "queue.js": "text/javascript; charset=utf-8",
	} {
		data, err := files.ReadFile("static/" + file)
		if err != nil {
			panic(err) // embedded at build time
		}
		sum := sha256.Sum256(data)
		ext := path.Ext(file)
		name := strings.TrimSuffix(file, ext) + "-" + hex.EncodeToString(sum[:6]) + ext
		byName[name], byFile[file] = asset{data, media}, StaticPrefix+name
	}
	return byName, byFile
}

// AssetPath is the address of an embedded file, such as queue.css.
func AssetPath(file string) string { return paths[file] }

// Static serves the embedded files under StaticPrefix. A name never changes its content,
// so browsers keep it for a year.
func Static() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		a, ok := assets[strings.TrimPrefix(r.URL.Path, StaticPrefix)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		h.Set("Content-Type", a.media)
		h.Set("Content-Length", strconv.Itoa(len(a.data)))
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("X-Content-Type-Options", "nosniff")
		if r.Method == http.MethodGet {
			_, _ = w.Write(a.data) // a client that went away is no error of ours
		}
	})
}
