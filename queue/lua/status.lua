-- status: what the room looks like now. Writes nothing but a new room's memory.
--
-- Returns {now µs, generation, waiting, active, oldest place (0 = nobody waits),
--          ms held, then the counters joined admitted claimed noshow expired left aside dropped retaken}
-- Cost: O(log N).
load()
save()
local oldest = redis.call('ZRANGE', WAITING, 0, 0, 'WITHSCORES')
local names = { 'joined', 'admitted', 'claimed', 'noshow', 'expired', 'left', 'aside', 'dropped', 'retaken' }
local counters = redis.call('HMGET', ROOM, unpack(names))
local out = {
  int(now), int(room.gen), redis.call('ZCARD', WAITING),
  redis.call('ZCOUNT', ACTIVE, '(' .. int(now_ms), '+inf'), int(tonumber(oldest[2] or 0)),
  held(),
}
for i in ipairs(names) do out[#out + 1] = int(tonumber(counters[i] or 0)) end
return out
