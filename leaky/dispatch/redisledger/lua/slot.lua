-- slot: takes the next place in the pace (GCRA), if it is near enough.
--
-- KEYS  1 pace: string "µs:ns:span", the theoretical arrival time and how far ahead of the
--         clock it was when it was written, in µs; TTL an hour past its use
-- ARGV  1 ns between units of cost  2 burst, units  3 cost, units  4 the farthest place that is taken, µs
-- Returns {1 taken or 0, µs until the place}. Cost: O(1).
--
-- A pace that is not known was perhaps forgotten with places in it that others are about to
-- use, so the first place is one interval and a moment away, a second at most.
local MOMENT, LONGEST, KEPT = 25000, 1000000, 3600000
local interval, burst, cost, ahead = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local function write(us, ns)
  local span = us - now_us
  redis.call('SET', KEYS[1], int(us) .. ':' .. int(ns) .. ':' .. int(span), 'PX', int(math.ceil(span / 1000) + KEPT))
end

local us, ns, span = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+):(%d+):(%d+)$')
us, ns, span = tonumber(us), tonumber(ns), tonumber(span)
if not us then
  us, ns = now_us + math.min(math.ceil(interval / 1000) + MOMENT, LONGEST), 0
  us = us + math.floor((burst - 1) * interval / 1000) -- nor is there a burst at first
  span = us - now_us
  write(us, ns)
end
if us - now_us > span then -- the clock was set back: neither a freeze nor a burst
  us = now_us + span
end
if us < now_us then -- time without jobs is not paid back
  us, ns = now_us, 0
end
local start = us - math.floor((burst - 1) * interval / 1000)
local wait = math.max(start - now_us, 0)
if wait > ahead then return {0, int(wait)} end
local step = cost * interval + ns
write(us + math.floor(step / 1000), step % 1000)
return {1, int(wait)}
