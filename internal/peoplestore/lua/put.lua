-- put: an account as it shall be, if nobody changed it since it was read.
--
-- KEYS 1 accounts: HASH id -> JSON   2 versions: HASH id -> version   3 handles: HASH handle -> id
--      4 admins: SET of ids that govern   5 setup: STRING of a set-up link, looked at if ARGV 6 is 1
-- ARGV 1 id  2 version that was read, 0 = a new account  3 handle  4 JSON
--      5 1 = it governs  6 1 = the first account, by a set-up link  7 most accounts
-- Returns the new version, or -1 changed meanwhile  -2 handle taken  -3 the last that governs
--         -4 no such set-up link, or there are accounts  -5 too many accounts
-- Cost O(1)
local id, read = ARGV[1], tonumber(ARGV[2])
local version = tonumber(redis.call('HGET', KEYS[2], id) or 0)
if ARGV[6] == '1' and (redis.call('HLEN', KEYS[1]) > 0 or redis.call('EXISTS', KEYS[5]) == 0) then return -4 end
if version ~= read then return -1 end
local owner = redis.call('HGET', KEYS[3], ARGV[3])
if owner and owner ~= id then return -2 end
if read == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[7]) then return -5 end
if ARGV[5] == '1' then
  redis.call('SADD', KEYS[4], id)
else
  if redis.call('SISMEMBER', KEYS[4], id) == 1 and redis.call('SCARD', KEYS[4]) == 1 then return -3 end
  redis.call('SREM', KEYS[4], id)
end
if ARGV[6] == '1' then redis.call('DEL', KEYS[5]) end
version = version + 1
redis.call('HSET', KEYS[1], id, ARGV[4])
redis.call('HSET', KEYS[2], id, version)
redis.call('HSET', KEYS[3], ARGV[3], id)
return version
