-- slot: takes the next place in the pace (GCRA), if it is near enough.
--
-- KEYS  1 pace: string "µs:ns:span", the theoretical arrival time and how far ahead of the
--         clock it was when it was written, in µs
-- ARGV  1 ns between units of cost  2 burst, units  3 cost, units  4 the farthest place that is taken, µs
-- Returns {1 taken or 0, µs until the place}. Cost: O(1).
local interval, burst, cost, ahead = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local us, ns, span = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+):(%d+):(%d+)$')
us, ns, span = tonumber(us or 0), tonumber(ns or 0), tonumber(span or 0)
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
us, ns = us + math.floor(step / 1000), step % 1000
span = us - now_us
redis.call('SET', KEYS[1], int(us) .. ':' .. int(ns) .. ':' .. int(span), 'PX', int(math.ceil(span / 1000) + 1000))
return {1, int(wait)}
