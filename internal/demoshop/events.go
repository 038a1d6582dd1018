package demoshop

import (
	"fmt"
	"strconv"
	"time"
)

// Event is one evening on sale.
type Event struct {
	ID, Place, Artist, About, More string
	PriceEUR                       int
	Date                           time.Time // only the day counts
}

// notice is how far ahead the first evening is at least.
const notice = 10 * 24 * time.Hour

// programme is a Friday, a Saturday and a Sunday that are still to come.
func programme(now time.Time) []Event {
	friday := now.Add(notice)
	for friday.Weekday() != time.Friday {
		friday = friday.AddDate(0, 0, 1)
	}
	events := []Event{
		{
			ID: "harbour", Place: "Harbour Hall", Artist: "Mira Aalto Quartet", PriceEUR: 34,
			About: "Slow northern jazz by the water, with candles on every table.",
			More:  "Mira Aalto writes for rooms in which one can hear the harbour outside. Her quartet plays two sets, with time for a warm drink in between. Doors at 19:00, first notes at 20:00.",
		},
		{
			ID: "arcade", Place: "The Old Arcade", Artist: "Paper Lanterns", PriceEUR: 28,
			About: "Seven voices, two guitars, and the best echo in town.",
			More:  "The choir walks through the arcade while it sings, and the audience walks along. Bring a coat. Lanterns are lent at the door. Doors at 18:30, the walk begins at 19:15.",
		},
		{
			ID: "garden", Place: "Glasshouse Garden", Artist: "Orchestra of Small Things", PriceEUR: 22,
			About: "Music boxes, toy pianos and a real cello, among the palms.",
			More:  "A concert for people of every age. The orchestra shows its instruments afterwards, and some of them may be wound up by visitors. Doors at 17:00, first notes at 17:30.",
		},
	}
	for i := range events {
		events[i].Date = friday.AddDate(0, 0, i)
	}
	return events
}

func find(events []Event, id string) (Event, bool) {
	for _, e := range events {
		if e.ID == id {
			return e, true
		}
	}
	return Event{}, false
}

// tickets counts in words.
func tickets(n int) string {
	if n == 1 {
		return "1 ticket"
	}
	return strconv.Itoa(n) + " tickets"
}

// timeLeft says the rest of a visit in words. shop.js says the same.
func timeLeft(d time.Duration) string {
	m := int(d.Round(time.Minute) / time.Minute)
	switch {
	case d < time.Minute:
		return "Less than a minute left"
	case m == 1:
		return "About a minute left"
	}
	return "About " + strconv.Itoa(m) + " minutes left"
}

func receipt(e Event, count int) string {
	return fmt.Sprintf("%s for %s, %s, %s. That is €%d, and as this is a demo you keep it.",
		tickets(count), e.Artist, e.Date.Format("2 January"), e.Place, count*e.PriceEUR)
}

// lantern is one of the drawing at the top: where its string begins, and its width.
type lantern struct{ x, y, r string }

var hung = []lantern{
	{"70", "24", "11"}, {"150", "37", "15"}, {"245", "46", "12"}, {"330", "48", "17"},
	{"425", "44", "12"}, {"500", "35", "15"}, {"585", "21", "11"},
}
