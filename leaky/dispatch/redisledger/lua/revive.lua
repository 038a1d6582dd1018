-- revive: makes a dead job one that may be begun.
--
-- KEYS  1 job  2 held
-- ARGV  1 id  2 ms within which it has to be confirmed  3 TTL of the job, ms
-- Returns 1 if it is revived, 0 if it is not dead. A job that is not known, because Redis was
-- emptied or its status ran out, is revived too. Cost: O(log N).
local state, due = unpack(redis.call('HMGET', KEYS[1], 'state', 'due'))
local again = state == 'reviving' and tonumber(due or 0) <= now -- its replay was killed
if state and state ~= 'dead' and not again then return 0 end
redis.call('HSET', KEYS[1], 'state', 'reviving', 'attempts', 0, 'due', int(now + tonumber(ARGV[2])), 'reason', 'replayed')
redis.call('HDEL', KEYS[1], 'ended', 'lease', 'holder')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('ZADD', KEYS[2], 'NX', int(now), ARGV[1])
return 1
