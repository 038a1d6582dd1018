-- put: a new revision of a room's settings, if nobody wrote one since it was read.
--
-- KEYS 1 now: HASH version over by at   2 past: LIST of revisions as JSON, newest first
-- ARGV 1 version that was read  2 over, JSON  3 by  4 why  5 most revisions to keep
-- Returns {1 = written, version now in force, ms at which it was written}
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or 0)
if version ~= tonumber(ARGV[1]) then return { 0, version, 0 } end
local t = redis.call('TIME')
local at = string.format('%.0f', tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000))
version = version + 1
redis.call('HSET', KEYS[1], 'version', version, 'over', ARGV[2], 'by', ARGV[3], 'why', ARGV[4], 'at', at)
local one = cjson.encode({ version = version, over = ARGV[2], by = ARGV[3], why = ARGV[4], at = at })
redis.call('LPUSH', KEYS[2], one)
redis.call('LTRIM', KEYS[2], 0, tonumber(ARGV[5]) - 1)
return { 1, version, tonumber(at) }
