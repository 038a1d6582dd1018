-- switch: an operator's hold, or a destination that wants no more.
--
-- KEYS  1 gate
-- ARGV  1 held | disabled  2 reason; empty ends it
-- Returns 1. Cost: O(1).
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
return 1
