-- remove: an account is no more.
--
-- KEYS 1 accounts: HASH id -> JSON   2 versions: HASH id -> version   3 handles: HASH handle -> id
--      4 admins: SET of ids that govern
-- ARGV 1 id  2 version that was read  3 handle
-- Returns 1, or -1 changed meanwhile  -3 the last that governs
-- Cost O(1)
local id = ARGV[1]
if tonumber(redis.call('HGET', KEYS[2], id) or 0) ~= tonumber(ARGV[2]) then return -1 end
if redis.call('SISMEMBER', KEYS[4], id) == 1 and redis.call('SCARD', KEYS[4]) == 1 then return -3 end
redis.call('SREM', KEYS[4], id)
redis.call('HDEL', KEYS[1], id)
redis.call('HDEL', KEYS[2], id)
redis.call('HDEL', KEYS[3], ARGV[3])
return 1
