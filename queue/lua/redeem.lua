-- redeem: a token that is good once is used.
--
-- KEYS  7 the mark of this token
-- ARGV  7 the token's generation, 0 = of any  8 how long the mark is kept, ms: past the token's end
-- Returns {1 the first use / 0 used before or of an old generation, generation}. Cost: O(1).
load()
local first = 0
local gen = tonumber(ARGV[7])
if (gen == 0 or of_this_line(gen, math.floor(room.made))) and redis.call('SET', KEYS[7], '1', 'NX', 'PX', ARGV[8]) then
  first = 1
end
save()
return { first, int(room.gen) }
