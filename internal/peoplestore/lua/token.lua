-- token: one more API token, if there is room.
--
-- KEYS 1 tokens: HASH id -> JSON
-- ARGV 1 id  2 JSON  3 most tokens
-- Returns 1, or 0 = there are too many
-- Cost O(1)
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
