// Package limit holds six rate limiters behind one interface, with every choice visible.
//
//	rule := limit.Rule{
//		Name: "join", Algorithm: limit.GCRA, Rate: limit.Rate{Count: 10, Per: time.Minute},
//		Burst: 3, MaxCost: 1,
//	}
//	l, err := limit.New(rule)     // ErrRule names everything that is wrong
//	join := l.On(redislimit.New(rdb)) // or memory.New()
//	d, err := join.Allow(ctx, account, 1)
//
// For a rule of n calls in a time T:
//
//	                 state of one key           exactness                 burst   what goes wrong
//	fixed_window     one number and its end     exact in its windows      n       2n around a window's edge, and everybody
//	                                                                              retries at the edge
//	sliding_log      the time of every call     exact in any window of T  n       memory and work grow with n (10,000 at most)
//	sliding_counter  two numbers                assumes that the window   n       up to 2n in a T if the previous window's calls
//	                                            before was even                   came late in it, fewer than n if they came early
//	token_bucket     what is left, and when     burst + rate × time       burst   a full bucket and its refill: burst + n in a T;
//	                                                                              a raised burst fills slowly
//	leaky_meter      the level, and when        as the token bucket       burst   the same; a raised burst is room at once
//	gcra             when the debt is paid      as the token bucket       burst   the same; a changed rate is converted, a
//	                                                                              changed burst is not known to have changed
//
// All times and amounts are exact integers: any rate, such as 1 in 7 seconds, is kept for
// as long as you like. A rule whose numbers would not be exact is refused.
//
// A changed rule goes on from the next call with what was used: it neither refills nor
// locks out. [Limiter.Reset] forgets a key, for a customer who bought more. A changed
// algorithm starts as new.
//
// Stores follow their clock. A clock that is behind by less than the rule's Recovery is
// taken for one of several that differ, and time stands still for the key until it has
// caught up; after a larger step the key goes on at the new time, as full as it was.
package limit
