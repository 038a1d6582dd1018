-- retry: ends the work on a job that stays in the bucket.
--
-- KEYS  1 job
-- ARGV  1 attempts so far  2 ms until it is meant to be tried  3 reason  4 TTL of the job, ms
-- Returns 1, or 0 if the job has ended meanwhile. Cost: O(1).
local state = redis.call('HGET', KEYS[1], 'state')
if state == 'delivered' or state == 'dead' or state == 'cancelled' then return 0 end
redis.call('HSET', KEYS[1], 'state', 'retry', 'attempts', ARGV[1], 'due', int(now + tonumber(ARGV[2])), 'reason', ARGV[3])
redis.call('HDEL', KEYS[1], 'lease', 'holder')
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
