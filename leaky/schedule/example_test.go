package schedule_test

import (
	"fmt"

	"github.com/anteroom/anteroom/leaky/schedule"
)

// High has three of four while normal waits, and a heavy job does not hold up light ones.
func ExampleLanes() {
	lanes, err := schedule.New[string](schedule.Share{Lane: "high", Weight: 3}, schedule.Share{Lane: "normal", Weight: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 3 {
		lanes.Push("high", 1, fmt.Sprint("mail ", i))
	}
	lanes.Push("normal", 50, "video")
	lanes.Push("normal", 1, "points")
	for job, cost, ok := lanes.Pop(); ok; job, cost, ok = lanes.Pop() {
		fmt.Println(job, cost)
	}
	// Output:
	// mail 0 1
	// points 1
	// mail 1 1
	// mail 2 1
	// video 50
}
