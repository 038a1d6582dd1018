-- join: one visitor asks for a place. Idempotent per id.
--
-- ARGV  7 id  8 place of the ticket shown, 0 = none  9 its generation, 0 = none
--       10 capacity, 0 = nobody goes straight in  11 pace interval, µs  12 burst  13 claim window, ms
--       14 shortest poll, ms  15 longest poll, ms  16 µs of poll interval a person ahead
-- Returns {state, place, generation, ahead, ms left inside, poll ms, 1 if new, ms held}
-- Cost: O(log N).
local id, shown, shown_gen = ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
load()
answered()

local function answer(state, place, ahead, left, poll_ms, new)
  save()
  return { state, int(place), int(room.gen), ahead, left, poll_ms, new, held() }
end

local function stand(place, new)
  local ahead = redis.call('ZRANK', WAITING, id)
  local poll_ms = interval(ahead, 14)
  beat(id, poll_ms)
  return answer(IS_WAITING, place, ahead, 0, poll_ms, new)
end

if shown > 0 and not of_this_line(shown_gen, shown) then
  return answer(IS_FOREIGN, 0, 0, 0, 0, 0)
end

local place = redis.call('ZSCORE', WAITING, id)
if place then return stand(tonumber(place), 0) end

local state, expiry = inside(id)
-- Inside, no order counts any more: a ticket made anew for this id takes now.
if state then return answer(state, shown > 0 and shown or now, 0, math.floor(expiry - now_ms), 0, 0) end

if shown > 0 then
  if not may_return(id, shown) then return answer(gone(id), 0, 0, 0, 0, 0) end
  put_back(id, shown)
  return stand(shown, 0)
end
if redis.call('ZSCORE', SPENT, id) or redis.call('ZSCORE', ACTIVE, id) then
  return answer(IS_EXPIRED, 0, 0, 0, 0, 0)
end

place = math.max(now, room.last + 1)
if place > MAX_EXACT then return redis.error_reply('ANTEROOM places are used up (2^53)') end
set('last', place)
count('joined', 1)

if redis.call('ZCARD', WAITING) == 0 then
  local interval_us, burst = tonumber(ARGV[11]), tonumber(ARGV[12])
  set_bound(0)
  local tat = pace_time(interval_us, burst, 0)
  local paced = pace_allows(tat, interval_us, burst) > 0
  local free = redis.call('ZCARD', ACTIVE) < tonumber(ARGV[10])
  if paced and free and held() == 0 then
    local window = tonumber(ARGV[13])
    redis.call('ZADD', ACTIVE, int(now_ms + window), id)
    pace_save(tat + interval_us)
    count('admitted', 1)
    return answer(IS_ADMITTED, place, 0, window, 0, 1)
  end
  if free and not paced then set_bound(1) end
end
put(id, place)
return stand(place, 1)
