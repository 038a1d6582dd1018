-- admit: drop who has run out of time, count the free slots, let in as many from the
-- head of the line as capacity and pace allow, passing over who is away.
--
-- Any number of workers may run it at once: this script is the lock.
--
-- ARGV  7 capacity, 0 = let nobody in  8 pace interval, µs  9 burst  10 slack of a late tick, µs
--       11 claim window, ms  12 most to admit  13 most to look at
--       14 … upper ends of the buckets in which waits are counted, s, rising
-- Returns {admitted, set aside, dropped, expired, no-shows, waiting, active,
--          1 = more to do now, µs until the pace allows the next (0 = not held by it),
--          ms for which the line is held, generation}
-- Cost: O(log N) a ticket looked at, bounded by ARGV 12 and 13.
local capacity, interval_us, burst = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local slack, window = tonumber(ARGV[10]), tonumber(ARGV[11])
local most, scan = tonumber(ARGV[12]), tonumber(ARGV[13])
load()

-- Turns that ended: a claimed one is in spent already, an unclaimed one was a no-show.
local function expire()
  local due = redis.call('ZRANGEBYSCORE', ACTIVE, '-inf', int(now_ms), 'LIMIT', 0, scan)
  local noshow = 0
  for _, id in ipairs(due) do
    if not redis.call('ZSCORE', SPENT, id) then noshow = noshow + 1 end
    redis.call('ZREM', ACTIVE, id)
    redis.call('UNLINK', SINCE .. id)
    spend(id, now_ms)
  end
  count('expired', #due - noshow)
  count('noshow', noshow)
  return #due, noshow
end

-- Spent entries may be forgotten once no rule could bring their ticket back.
local function forget()
  local old = redis.call('ZRANGEBYSCORE', SPENT, '-inf', int(now_ms), 'LIMIT', 0, 100)
  for _, id in ipairs(old) do
    local expiry = redis.call('ZSCORE', ACTIVE, id)
    if expiry then spend(id, tonumber(expiry)) else redis.call('ZREM', SPENT, id) end
  end
end

-- tally counts how long those who were let in had waited. They come in the order of their
-- places, so one bucket after the other suffices.
local function tally(places)
  local counts, i = {}, #ARGV
  for _, place in ipairs(places) do
    local waited = math.floor((now - place) / 1000000)
    while i > 14 and waited < tonumber(ARGV[i - 1]) do i = i - 1 end
    while i <= #ARGV and waited >= tonumber(ARGV[i]) do i = i + 1 end
    counts[i - 13] = (counts[i - 13] or 0) + 1
  end
  for bucket, n in pairs(counts) do redis.call('HINCRBY', WAITS, bucket, n) end
end

-- take pops up to n heads of the line and lets the living ones in.
local function take(n)
  local popped = redis.call('ZPOPMIN', WAITING, n)
  local keys, ids = {}, {}
  for i = 1, #popped, 2 do
    ids[#ids + 1] = popped[i]
    keys[#keys + 1] = ALIVE .. popped[i]
  end
  if #ids == 0 then return 0, 0, 0, 0 end
  local present = redis.call('MGET', unpack(keys))
  local slots, done, places, aside, dropped = {}, {}, {}, 0, 0
  for i, id in ipairs(ids) do
    if not present[i] then
      dropped = dropped + 1
    elseif tonumber(present[i]) < now_ms then
      aside = aside + 1
    else
      slots[#slots + 1] = int(now_ms + window)
      slots[#slots + 1] = id
      done[#done + 1] = keys[i]
      turns[#turns + 1] = id
      places[#places + 1] = tonumber(popped[2 * i])
    end
  end
  if #done > 0 then
    redis.call('ZADD', ACTIVE, unpack(slots))
    redis.call('UNLINK', unpack(done))
    tally(places)
  end
  return #ids, #done, aside, dropped
end

local expired, noshow = expire()
forget()
local waiting, active = redis.call('ZCARD', WAITING), redis.call('ZCARD', ACTIVE)
local admitted, aside, dropped, seen = 0, 0, 0, 0
local hold = held()
-- Nobody was answered for long: whoever lives cannot be told from whoever left.
local silent = now_ms - room.polled > SILENCE

local tat = pace_time(interval_us, burst, slack)
local allowed = pace_allows(tat, interval_us, burst)
local free = math.max(0, capacity - active)
local want = 0
if hold == 0 and not silent then want = math.min(allowed, free, most) end
while admitted < want and seen < scan do
  local n, a, s, d = take(math.min(want - admitted, scan - seen))
  if n == 0 then break end
  seen, admitted, aside, dropped = seen + n, admitted + a, aside + s, dropped + d
end
waiting, active, tat = waiting - seen, active + admitted, tat + admitted * interval_us
if admitted > 0 then pace_save(tat) end
count('admitted', admitted)
if seen > 0 then set('popped', room.popped + seen) end
count('aside', aside)
count('dropped', dropped)

local more, next_us = 0, 0
local eager = waiting > 0 and hold == 0 and not silent
if eager and active < capacity then
  if pace_allows(tat, interval_us, burst) == 0 then
    next_us = tat - now - interval_us * (burst - 1)
  else
    more = 1
  end
end
if next_us > 0 then
  set_bound(1)
elseif more == 0 then
  set_bound(0)
end
save()
return { admitted, aside, dropped, expired, noshow, waiting, active, more, int(next_us), hold, int(room.gen) }
