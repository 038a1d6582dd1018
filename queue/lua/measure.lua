-- measure: what the dashboard shows and no visitor needs. Writes nothing.
--
-- ARGV  7 how many of the line to look at  8 how many buckets of waits
-- Returns {looked at, away among them, gone among them, then the counts of the buckets}
-- Cost: O(log N) a ticket looked at.
local asked, buckets = tonumber(ARGV[7]), tonumber(ARGV[8])
local ids = redis.call('ZRANDMEMBER', WAITING, asked)
local keys, away, gone = {}, 0, 0
for i, id in ipairs(ids) do keys[i] = ALIVE .. id end
if #keys > 0 then
  local present = redis.call('MGET', unpack(keys))
  for i = 1, #keys do
    if not present[i] then
      gone = gone + 1
    elseif tonumber(present[i]) < now_ms then
      away = away + 1
    end
  end
end
local out = { #ids, away, gone }
local names = {}
for i = 1, buckets do names[i] = i end
for i, n in ipairs(redis.call('HMGET', WAITS, unpack(names))) do out[3 + i] = int(tonumber(n or 0)) end
return out
