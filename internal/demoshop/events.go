package demoshop

import (
	"fmt"
	"strconv"
)

// events is the programme; nothing changes it.
var events = []Event{
	{
		ID: "harbour", Weekday: "Friday", Day: "12", Month: "December", Place: "Harbour Hall", Artist: "Mira Aalto Quartet", PriceEUR: 34,
		About: "Slow northern jazz for a winter evening, with candles on every table.",
		More:  "Mira Aalto writes for rooms in which one can hear the snow outside. Her quartet plays two sets, with time for a warm drink in between. Doors at 19:00, first notes at 20:00.",
	},
	{
		ID: "arcade", Weekday: "Saturday", Day: "13", Month: "December", Place: "The Old Arcade", Artist: "Paper Lanterns", PriceEUR: 28,
		About: "Seven voices, two guitars, and the best echo in town.",
		More:  "The choir walks through the arcade while it sings, and the audience walks along. Bring a coat. Lanterns are lent at the door. Doors at 18:30, the walk begins at 19:15.",
	},
	{
		ID: "garden", Weekday: "Sunday", Day: "14", Month: "December", Place: "Glasshouse Garden", Artist: "Orchestra of Small Things", PriceEUR: 22,
		About: "Music boxes, toy pianos and a real cello, among the palms.",
		More:  "An afternoon for people of every age. The orchestra shows its instruments after the concert, and some of them may be wound up by visitors. Doors at 15:00, first notes at 15:30.",
	},
}

func find(id string) (Event, bool) {
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

func receipt(e Event, count int) string {
	return fmt.Sprintf("%s for %s, %s %s, %s. That is €%d, and as this is a demo you keep it.",
		tickets(count), e.Artist, e.Day, e.Month, e.Place, count*e.PriceEUR)
}

// lantern is one of the drawing at the top: where its string begins, and its width.
type lantern struct{ x, y, r string }

var hung = []lantern{
	{"70", "24", "11"}, {"150", "37", "15"}, {"245", "46", "12"}, {"330", "48", "17"},
	{"425", "44", "12"}, {"500", "35", "15"}, {"585", "21", "11"},
}
