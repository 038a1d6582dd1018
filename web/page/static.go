package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"
)

// StaticPrefix is where Static is mounted.
const StaticPrefix = "/anteroom-static/"

//go:embed static
var files embed.FS

// assets are the files by their hashed name, paths their addresses by file; both are
// read-only.
var assets, paths = makeAssets()

type asset struct {
	data  []byte
	media string
}

const (
	mediaCSS = "text/css; charset=utf-8"
	mediaJS  = "text/javascript; charset=utf-8"
)

// makeAssets makes the sources small, once at start: what a phone loads has no comments, and
// what a person reads has them.
func makeAssets() (byName map[string]asset, byFile map[string]string) {
	byName, byFile = map[string]asset{}, map[string]string{}
	small := minify.New()
	small.AddFunc("text/css", css.Minify)
	small.AddFunc("text/javascript", js.Minify)
	for file, media := range map[string]string{"queue.css": mediaCSS, "queue.js": mediaJS, "proof.js": mediaJS} {
		data, err := small.Bytes(media, sourceOf(file))
		if err != nil {
			panic("page: " + file + ": " + err.Error()) // embedded at build time
		}
		sum := sha256.Sum256(data)
		ext := path.Ext(file)
		name := strings.TrimSuffix(file, ext) + "-" + hex.EncodeToString(sum[:6]) + ext
		byName[name], byFile[file] = asset{data, media}, StaticPrefix+name
	}
	return byName, byFile
}

// sourceOf is an embedded file, or the files of the folder of its name, joined in their order.
func sourceOf(file string) []byte {
	if data, err := files.ReadFile("static/" + file); err == nil {
		return data
	}
	parts, err := fs.Glob(files, "static/"+strings.TrimSuffix(file, ".js")+"/*.js")
	if err != nil || len(parts) == 0 {
		panic("page: no source of " + file)
	}
	out := []byte("(() => {\n\"use strict\";\n")
	for _, part := range parts {
		data, err := files.ReadFile(part)
		if err != nil {
			panic(err)
		}
		out = append(out, data...)
	}
	return append(out, "})();\n"...)
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
