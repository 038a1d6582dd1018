-- claim: an admitted visitor takes up the turn. Again while inside: the same slot.
--
-- ARGV  7 id  8 place  9 generation  10 session, ms
-- Returns {state, ms left inside, generation, 1 if this call claimed it, ms since it was
--          first claimed}
-- Cost: O(log N).
local id = ARGV[7]
load()
if not of_this_line(tonumber(ARGV[9]), tonumber(ARGV[8])) then
  save()
  return { IS_FOREIGN, 0, int(room.gen), 0, 0 }
end
local state, expiry = inside(id)
local first = 0
if state == IS_ADMITTED then
  first = 1
  expiry = now_ms + tonumber(ARGV[10])
  redis.call('ZADD', ACTIVE, 'XX', int(expiry), id)
  spend(id, expiry)
  count('claimed', 1)
  state = IS_ACTIVE
  redis.call('SET', SINCE .. id, int(now_ms), 'PX', MAX_AGE)
elseif not state then
  if redis.call('ZRANK', WAITING, id) then
    state = IS_WAITING
  elseif may_return(id, tonumber(ARGV[8])) then
    state = IS_WAITING
  else
    state = gone(id)
  end
end
save()
local since = tonumber(redis.call('GET', SINCE .. id) or now_ms)
return { state, math.floor((expiry or now_ms) - now_ms), int(room.gen), first, int(math.max(0, now_ms - since)) }
