package leaky_test

import (
	"fmt"
	"time"

	"github.com/anteroom/anteroom/leaky"
)

func ExampleNext() {
	policy := leaky.Policy{MaxAttempts: 4, Min: time.Second, Max: time.Minute, Deadline: time.Hour}
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	first := now
	for attempt := 1; ; attempt++ {
		at, gave := leaky.Next(policy, attempt, first, now, 0.5)
		if gave != leaky.KeepTrying {
			fmt.Println("dead:", gave)
			return
		}
		fmt.Println(at.Sub(now))
		now = at
	}
	// Output:
	// 1.5s
	// 2.5s
	// 4.5s
	// dead: attempts
}
