-- Shared by every decision: this file, then the file of one algorithm (or all six), then
-- decide.lua make one script.
--
-- KEYS  those of the checks, one after another; a sliding counter has two, the others one
-- ARGV  1 now, microseconds; -1 = ask Redis TIME (a test, or a Redis without TIME, passes it)
--       2 1 = only look: write nothing
--       3.. seven a check: algorithm 1 to 6, limit, cost, recovery in microseconds, then
--           window, tick and 1 = record denied calls, or per token, per microsecond and
--           capacity in units
-- Numbers are integers below 2^53; those above 2^31 travel as strings made by int().
-- The arithmetic is that of ../internal/arith, statement by statement.
local LOOK = ARGV[2] == '1'

local function int(n) return string.format('%.0f', n) end

local now = tonumber(ARGV[1])
if now < 0 then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000000 + tonumber(t[2])
end

-- algorithms[n](keys, p, cost) returns allowed, remaining, retry, reset (microseconds), a
-- function that writes what taking the cost leaves, and one that writes what a clock or
-- rule that changed leaves even if nothing is taken, or nil.
local algorithms = {}

local function ceil_div(a, b) return math.floor((a + b - 1) / b) end

-- read is false for a key of another type, which the next write removes: planted by
-- hand or by an older version, it would otherwise be an error for ever.
local function read(command, key, ...)
  local v = redis.pcall(command, key, ...)
  if type(v) == 'table' and v.err then
    if not string.find(v.err, 'WRONGTYPE', 1, true) then error(v.err) end
    if not LOOK then redis.call('DEL', key) end
    return false
  end
  return v
end

-- numbers of a string such as 12:0:7, or nothing if it is not of the pattern.
local function numbers(v, pattern)
  if not v then return nil end
  local a, b, c, d = string.match(v, pattern)
  return tonumber(a), tonumber(b), tonumber(c), tonumber(d)
end

-- ttl in ms of a key that matters for so many microseconds: a millisecond more, because
-- Redis cuts its own time, but never above two recoveries.
local function ttl(p, us)
  local ms = math.max(1, math.ceil(us / 1000))
  return math.max(ms, math.min(ms + 1, math.floor(p.recovery / 500)))
end

local function put(key, p, value, us) redis.call('SET', key, value, 'PX', int(ttl(p, us))) end

-- keep gives a key that nothing was written to the expiry it should have: one without
-- (planted, or written by a faulty client) would refuse for ever, and one of a rule that
-- has changed would end too soon or too late.
local function keep(key, p, us)
  local left = redis.call('PTTL', key)
  if left == -2 then return end
  if left < math.floor(us / 1000) - 1 or left > math.max(p.recovery / 500, 2) then
    redis.call('PEXPIRE', key, int(ttl(p, us)))
  end
end

local function window_end(window) return now - now % window + window end

-- clock: the time that counts for a state of a given time, and whether the clock was set.
local function clock(p, at)
  if now >= at then return now, false end
  if at - now <= p.recovery then return at, false end
  return now, true
end

local function drain(p, debt, elapsed)
  if elapsed >= p.recovery then return 0 end
  return math.max(0, debt - elapsed * p.per_micro)
end

-- answer decides on a debt in units: allowed, remaining, retry, reset, debt after.
local function answer(p, debt, cost, lag)
  local taken, retry, reset = debt + cost * p.per_token, 0, 0
  local allowed = taken <= p.capacity
  if allowed then debt = taken else retry = ceil_div(taken - p.capacity, p.per_micro) + lag end
  if debt > 0 then reset = ceil_div(debt, p.per_micro) + lag end
  return allowed, math.floor(math.max(0, p.capacity - debt) / p.per_token), retry, reset, debt
end

-- scale turns an amount in units of another rule into units of this one.
local function scale(p, n, per_token, round)
  if per_token == p.per_token then return n end
  local whole, part = math.floor(n / per_token), n % per_token
  if whole >= p.limit then return p.capacity end
  return whole * p.per_token + round(part / per_token * p.per_token)
end
