package people

import (
	"time"
	"unicode/utf8"
)

// Entry is one line of the audit log: who did what, when, to what, from what to what. It
// never has a secret.
type Entry struct {
	// ID is the store's, in order of time.
	ID   string    `json:"id"`
	At   time.Time `json:"at"`
	Who  string    `json:"who"`
	Role Role      `json:"role"`
	Via  string    `json:"via,omitempty"` // the address
	// What is a short verb phrase, such as "token made"; On is to what it was done.
	What string `json:"what"`
	On   string `json:"on,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// mostField bounds each text of an entry, in bytes.
const mostField = 1024

// Bounded is the entry with texts of at most 1 KiB, cut between characters.
func (e Entry) Bounded() Entry {
	for _, text := range []*string{&e.Who, &e.Via, &e.What, &e.On, &e.From, &e.To} {
		if len(*text) <= mostField {
			continue
		}
		end := mostField
		for end > 0 && !utf8.RuneStart((*text)[end]) {
			end--
		}
		*text = (*text)[:end] + "…"
	}
	return e
}
