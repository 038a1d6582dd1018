-- move: whoever has the code takes the place over, with a new id. The old ticket is spent
-- and will be told so; the place, the turn or the slot is the same.
--
-- KEYS  7 the offer under its code
-- ARGV  7 the new id
-- Returns {state of the new ticket: expired when there is no such offer, place, ms left
--          inside, generation}. Cost: O(log N).
local new = ARGV[7]
load()
local offer = redis.call('GET', KEYS[7])
redis.call('DEL', KEYS[7])
local state, place, expiry = IS_EXPIRED, 0, now_ms
local old, at, gen = string.match(offer or '', '^(%S+) (%d+) (%d+)$')
local taken = redis.call('ZRANK', WAITING, new) or redis.call('ZSCORE', ACTIVE, new) or redis.call('ZSCORE', SPENT, new)

if old and not taken and of_this_line(tonumber(gen), tonumber(at)) then
  local known, ends = inside(old)
  if known then
    state, place, expiry = known, tonumber(at), ends
    redis.call('ZREM', ACTIVE, old)
    redis.call('ZADD', ACTIVE, int(ends), new)
    if known == IS_ACTIVE then
      spend(new, ends)
      redis.call('SET', SINCE .. new, redis.call('GET', SINCE .. old) or int(now_ms), 'PX', MAX_AGE)
      redis.call('UNLINK', SINCE .. old)
    end
  elseif take_out(old) or may_return(old, tonumber(at)) then
    state, place = IS_WAITING, tonumber(at)
    put_back(new, place)
    beat(new, 0)
  end
  if state ~= IS_EXPIRED then
    redis.call('UNLINK', ALIVE .. old)
    spend(old, now_ms)
    redis.call('SET', MOVED .. old, '1', 'PX', int(KEEP))
  end
end
save()
return { state, int(place), math.floor(expiry - now_ms), int(room.gen) }
