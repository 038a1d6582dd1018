package queue

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed lua/prelude.lua
	preludeLua string
	//go:embed lua/join.lua
	joinLua string
	//go:embed lua/poll.lua
	pollLua string
	//go:embed lua/beat.lua
	beatLua string
	//go:embed lua/claim.lua
	claimLua string
	//go:embed lua/touch.lua
	touchLua string
	//go:embed lua/leave.lua
	leaveLua string
	//go:embed lua/away.lua
	awayLua string
	//go:embed lua/admit.lua
	admitLua string
	//go:embed lua/offer.lua
	offerLua string
	//go:embed lua/move.lua
	moveLua string
	//go:embed lua/redeem.lua
	redeemLua string
	//go:embed lua/reset.lua
	resetLua string
	//go:embed lua/status.lua
	statusLua string
	//go:embed lua/measure.lua
	measureLua string
)

var (
	joinScript    = redis.NewScript(preludeLua + joinLua)
	pollScript    = redis.NewScript(preludeLua + pollLua)
	beatScript    = redis.NewScript(preludeLua + beatLua)
	claimScript   = redis.NewScript(preludeLua + claimLua)
	touchScript   = redis.NewScript(preludeLua + touchLua)
	leaveScript   = redis.NewScript(preludeLua + leaveLua)
	awayScript    = redis.NewScript(preludeLua + awayLua)
	admitScript   = redis.NewScript(preludeLua + admitLua)
	offerScript   = redis.NewScript(preludeLua + offerLua)
	moveScript    = redis.NewScript(preludeLua + moveLua)
	redeemScript  = redis.NewScript(preludeLua + redeemLua)
	resetScript   = redis.NewScript(preludeLua + resetLua)
	statusScript  = redis.NewScript(preludeLua + statusLua)
	measureScript = redis.NewScript(preludeLua + measureLua)
)
