-- leave: a visitor, or the origin on a visitor's behalf, is done. The ticket is spent
-- from wherever it stands and its slot is free at once. Idempotent.
--
-- ARGV  7 id  8 place, 0 = by the origin  9 generation
-- Returns {state before: 1 waiting, 2 admitted, 3 active, 4 nowhere, 5 foreign; generation}
-- Cost: O(log N).
local id, place = ARGV[7], tonumber(ARGV[8])
load()
local state = IS_FOREIGN
if place == 0 or of_this_line(tonumber(ARGV[9]), place) then
  state = inside(id) or IS_EXPIRED
  if take_out(id) then state = IS_WAITING end
  redis.call('ZREM', ACTIVE, id)
  redis.call('UNLINK', ALIVE .. id, SINCE .. id)
  spend(id, now_ms)
  if state ~= IS_EXPIRED then count('left', 1) end
end
save()
return { state, int(room.gen) }
