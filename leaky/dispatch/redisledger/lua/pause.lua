-- pause: lets every dispatcher wait; never makes a pause shorter.
--
-- KEYS  1 gate
-- ARGV  1 for how long, ms  2 reason
-- Returns 1 if the pause is this one, 0 if a longer one stays. Cost: O(1).
local untilms = now + tonumber(ARGV[1])
if tonumber(redis.call('HGET', KEYS[1], 'paused') or 0) >= untilms then return 0 end
redis.call('HSET', KEYS[1], 'paused', int(untilms), 'why', ARGV[2])
return 1
