package rehearse

import (
	"encoding/json"
	"io"
	"time"
)

// Report is the result of a rehearsal. Times are seconds; the manual page explains the
// fields.
type Report struct {
	Room        string   `json:"room"`
	URLs        []string `json:"urls"`
	Through     []string `json:"through"`
	Seed        uint64   `json:"seed"`
	Seconds     float64  `json:"seconds"`
	Visitors    int      `json:"visitors"`
	Joined      int      `json:"joined"`
	NeverJoined int      `json:"never_joined"`
	Interrupted bool     `json:"interrupted"`

	Capacity     int    `json:"capacity"`
	CapacityFrom string `json:"capacity_from"` // flag or status
	AllowOver    int    `json:"allow_over"`

	Waits spread `json:"waits_s"`
	Ended Ended  `json:"ended"`

	InsideBySecond  []int   `json:"inside_by_second"`
	HighestInside   int     `json:"highest_inside"`
	HighestAt       float64 `json:"highest_at_s"`
	HighestPossible int     `json:"highest_possible"`

	Inversions int     `json:"inversions"`
	Overtaken  int     `json:"overtaken"`
	Comparable int     `json:"comparable"`
	Straddling int     `json:"straddling"`
	WipedAt    float64 `json:"wiped_at_s"`
	// Examples are the first few visitors that were overtaken.
	Examples []Example `json:"examples"`

	DoubleAdmissions int           `json:"double_admissions"`
	Doubles          Doubles       `json:"doubles"`
	Lost             int           `json:"lost"`
	Losses           Losses        `json:"losses"`
	LostExamples     []LostExample `json:"lost_examples"`
	TakenBack        int           `json:"taken_back"`
	PositionRises    int           `json:"position_rises"`

	LostQuery   int  `json:"lost_query"`
	ThrownOut   int  `json:"thrown_out"`
	StillIn     int  `json:"still_in"`
	NeverQueued int  `json:"never_queued"`
	Straight    bool `json:"allow_straight"`
	Gate        Gate `json:"gate"`

	Requests         int            `json:"requests"`
	Probes           int            `json:"probes"`
	RequestsAVisitor float64        `json:"requests_a_visitor"`
	Refusals         int            `json:"refusals"`
	Faults           map[string]int `json:"faults"`
	Lag              spread         `json:"lag_s"`

	Broken []string `json:"broken"`
}

// Example is the evidence that one visitor was overtaken.
type Example struct {
	Joined      float64 `json:"joined_s"`       // its join was answered
	LaterJoined float64 `json:"later_joined_s"` // the other's join was sent
	LaterTurn   float64 `json:"later_turn_s"`   // the other was told that it is its turn
	Asked       float64 `json:"asked_s"`        // its own last answer before that
	Waiting     float64 `json:"waiting_s"`      // it asked, and was told "waiting"
}

// Ended counts the proper ends of those who joined.
type Ended struct {
	Served       int `json:"served"`
	LeftLine     int `json:"left_line"`
	NoShow       int `json:"no_show"`
	MissedTurn   int `json:"missed_turn"`
	SleptTooLong int `json:"slept_too_long"`
}

func newReport(c *Config, v Verdict, t *traffic, took time.Duration) *Report {
	r := &Report{
		Room: c.Room, URLs: append([]string{}, c.URLs...), Through: append([]string{}, c.Through...), Seed: c.Seed, Seconds: seconds(took),
		Visitors: v.Visitors, Joined: v.Joined, NeverJoined: v.NeverJoined,
		Capacity: c.Capacity, AllowOver: c.AllowOver,
		Waits:          spreadOf(v.Waits),
		Ended:          Ended{v.Served, v.LeftLine, v.NoShows, v.MissedTurn, v.SleptTooLong},
		InsideBySecond: v.Inside.Seconds, HighestInside: v.Inside.Highest, HighestAt: seconds(v.Inside.At), HighestPossible: v.Inside.Possible,
		Inversions: v.Order.Inversions, Overtaken: v.Order.Overtaken, Comparable: v.Order.Comparable,
		Straddling: v.Order.Straddling, WipedAt: seconds(v.Order.WipedAt),
		DoubleAdmissions: v.DoubleAdmissions(), Doubles: v.Doubles,
		Lost: v.LostVisitors(), Losses: v.Lost, TakenBack: v.TakenBack, PositionRises: v.Rises,
		LostQuery: v.Gate.LostQuery, ThrownOut: v.Gate.ThrownOut, StillIn: v.Gate.StillIn, NeverQueued: v.Gate.NeverQueued,
		Straight: c.AllowStraight, Gate: v.Gate,
		Requests: t.Requests, Probes: t.Probes, Refusals: t.Refusals, Faults: t.Faults, Lag: spreadOf(t.Lag),
		Broken: v.Broken(),
	}
	r.Examples = []Example{}
	r.LostExamples = append([]LostExample{}, v.LostExamples...)
	for _, o := range v.Order.Examples {
		r.Examples = append(r.Examples, Example{seconds(o.Joined), seconds(o.LaterJoined), seconds(o.Turn.Answered), seconds(o.Asked), seconds(o.Waiting.Sent)})
	}
	r.RequestsAVisitor = float64(t.Requests-t.Probes) / float64(max(1, v.Visitors))
	if r.Broken == nil {
		r.Broken = []string{}
	}
	if r.InsideBySecond == nil {
		r.InsideBySecond = []int{}
	}
	return r
}

// JSON writes the report as one object.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
