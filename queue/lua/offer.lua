-- offer: a ticket's holder may take the place to another device, once, by a code.
--
-- KEYS  7 the offer under its code
-- ARGV  7 id  8 place  9 generation  10 how long the offer lasts, ms
-- Returns {state of the ticket, generation}. Cost: O(log N).
local id, place = ARGV[7], tonumber(ARGV[8])
load()
local state = IS_FOREIGN
if of_this_line(tonumber(ARGV[9]), place) then
  state = inside(id) or IS_EXPIRED
  if state == IS_EXPIRED and (redis.call('ZRANK', WAITING, id) or may_return(id, place)) then state = IS_WAITING end
end
if state == IS_WAITING or state == IS_ADMITTED or state == IS_ACTIVE then
  redis.call('SET', KEYS[7], id .. ' ' .. int(place) .. ' ' .. int(room.gen), 'PX', ARGV[10])
end
save()
return { state, int(room.gen) }
