-- finish: ends the work on a job for good and frees its room.
--
-- KEYS  1 job  2 held
-- ARGV  1 id  2 delivered | dead | cancelled  3 attempts  4 reason  5 TTL of the job, ms
-- Returns 1. What was delivered stays so, whoever says otherwise later. Cost: O(log N).
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('HGET', KEYS[1], 'state') ~= 'delivered' then
  redis.call('HSET', KEYS[1], 'state', ARGV[2], 'attempts', ARGV[3], 'reason', ARGV[4], 'ended', int(now))
  redis.call('HDEL', KEYS[1], 'lease', 'holder', 'due')
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
