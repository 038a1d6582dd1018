package web

import (
	"log/slog"
	"sync"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/web/page"
)

// ownPages keeps the parsed templates of rooms, by their text. It is bounded by the rooms
// files that were read.
type ownPages struct{ bySource sync.Map }

type ownPage struct {
	page *page.Override // nil = it cannot be used
	err  error
}

func (o *ownPages) of(room rooms.Room) *page.Override {
	if room.Theme.Source == "" {
		return nil
	}
	return o.parsed(room.Theme.Source).page
}

func (o *ownPages) parsed(source string) ownPage {
	if v, ok := o.bySource.Load(source); ok {
		return v.(ownPage)
	}
	var p ownPage
	p.page, p.err = page.NewOverride(source)
	v, _ := o.bySource.LoadOrStore(source, p)
	return v.(ownPage)
}

// CheckThemes draws every state of every room's own page and says in the log which rooms show
// the built-in page instead, and why, and which replaced texts no page says. Call it when the
// rooms were read.
func (s *Server) CheckThemes(log *slog.Logger) {
	for _, room := range s.Rooms.All() {
		for key := range room.Theme.Texts {
			if !page.HasWord(key) {
				log.Warn("a text of a theme is never shown: the page has no such word", "room", room.Name, "key", key)
			}
		}
		if room.Theme.Source == "" {
			continue
		}
		if p := s.ownPages.parsed(room.Theme.Source); p.err != nil {
			log.Warn("a template does not count; the built-in page is shown", "room", room.Name, "problem", p.err)
		}
	}
}
