-- begin: asks to work on a job.
--
-- KEYS  1 job  2 held
-- ARGV  1 id  2 lease, ms  3 holder: who asks; its own lease is no hindrance  4 TTL of the job, ms
-- Returns {0 run | 1 busy | 2 was done | 3 cancelled, ms until the other's lease ends}.
-- A job that is not known, because Redis was emptied, is run and takes room again. Cost: O(log N).
local state, lease, holder = unpack(redis.call('HMGET', KEYS[1], 'state', 'lease', 'holder'))
if state == 'delivered' or state == 'dead' then return {2, '0'} end
if state == 'cancelled' then return {3, '0'} end
lease = tonumber(lease or 0)
if lease > now and holder ~= ARGV[3] then return {1, int(lease - now)} end
redis.call('HSET', KEYS[1], 'state', 'running', 'lease', int(now + tonumber(ARGV[2])), 'holder', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', KEYS[2], 'NX', int(now), ARGV[1])
return {0, '0'}
