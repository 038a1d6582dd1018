package web

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/web/page"
)

const (
	langCookie = "anteroom_lang"
	langLife   = 365 * 24 * time.Hour
)

// view is what every page of a room has: its words, its look, and what it can do.
func (s *Server) view(r *http.Request, room rooms.Room) page.View {
	return page.View{
		Room: room.Name, Title: room.Display(), Message: room.Message, Lang: language(r), Theme: theme(room),
		KeepS: floorSeconds(room.KeepPlace), Proof: room.Proof > 0, Resume: room.Resume,
	}
}

// language is the one that the address names, or the visitor chose before, or the browser
// prefers.
func language(r *http.Request) string {
	chosen := ""
	if c, err := r.Cookie(langCookie); err == nil {
		chosen = c.Value
	}
	return page.PickLanguage(r.Header.Get("Accept-Language"), r.URL.Query().Get("lang"), chosen)
}

// keepLanguage remembers a language that the address names.
func (s *Server) keepLanguage(w http.ResponseWriter, r *http.Request) {
	if lang := r.URL.Query().Get("lang"); page.Speaks(lang) {
		s.setCookie(w, langCookie, lang, langLife)
	}
}

// theme is how a room's pages look and speak.
func theme(room rooms.Room) page.Theme {
	t := page.Theme{Logo: room.Theme.Logo, Texts: room.Theme.Texts}
	if style := page.Stylesheet(room.Theme.Accent, room.Theme.Background, room.Theme.CSS); style != nil {
		t.Styles = []string{page.StaticPrefix + "theme/" + styleName(room.Name, style)}
	}
	return t
}

// styleName changes with the style, so that browsers may keep it for ever.
func styleName(room string, style []byte) string {
	sum := sha256.Sum256(style)
	return room + "-" + hex.EncodeToString(sum[:6]) + ".css"
}

// logoHost is the other site that a room's logo comes from, "" for our own.
func logoHost(room rooms.Room) string {
	u, err := url.Parse(room.Theme.Logo)
	if err != nil || u.Scheme != "https" {
		return ""
	}
	return strings.ToLower(u.Host)
}
