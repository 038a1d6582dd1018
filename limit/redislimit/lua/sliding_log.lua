-- sliding_log: the time of every call that was allowed (by choice of refused ones too).
--
-- KEY   ZSET of one member for each unit of cost, score = microseconds; TTL until the
--       newest leaves the window. Members are the time and a number, so that calls of one
--       instant all count. Cost: O(log n) to decide, O(cost log n) to take.

-- The embedded miniredis writes some scores as 1e+8, which its own Lua cannot read: the
-- member says the same. (Its match returns nothing at all when nothing matches, hence the
-- parentheses.)
local function score(v) return tonumber(v[2]) or tonumber((string.match(v[1], '^%d+'))) end

-- add n members of time t: the time, and from the second on a number above all that the
-- time has (a trimmed log has not the first ones). The digit before it is its length, so
-- that Redis, which orders the members of one score as text, orders them by number.
local function add(key, n, t)
  local at, args = int(t), {}
  local last = redis.call('ZREVRANGEBYSCORE', key, at, at, 'LIMIT', 0, 1)[1]
  local c = 0
  if last then c = (tonumber((string.match(last, ':%d(%d+)$'))) or 0) + 1 end
  for i = c, c + n - 1 do
    local number = int(i)
    args[#args + 1] = at
    args[#args + 1] = i == 0 and at or at .. ':' .. #number .. number
    if #args >= 2000 then
      redis.call('ZADD', key, unpack(args))
      args = {}
    end
  end
  if #args > 0 then redis.call('ZADD', key, unpack(args)) end
end

-- tidy removes what has left the window. Entries of a time to come are of a clock that
-- was set back: they count as of now.
local function tidy(key, old, set)
  if old > 0 then redis.call('ZREMRANGEBYRANK', key, 0, old - 1) end
  if set then add(key, redis.call('ZREMRANGEBYSCORE', key, '(' .. int(now), '+inf'), now) end
end

algorithms[2] = function(keys, p, cost)
  local key, at, set = keys[1], now, false
  local last = read('ZREVRANGE', key, 0, 0, 'WITHSCORES')
  last = last and last[1] and score(last) or 0
  if last > now then
    set = last - now > p.window
    if not set then at = last end -- a clock that lags stands still
  end
  local old = redis.call('ZCOUNT', key, '-inf', int(at - p.window))
  local size = redis.call('ZCARD', key) - old
  local allowed = size + cost <= p.limit
  local record = p.record == 1 and not LOOK

  -- The log afterwards: n entries from the i-th of those that count now.
  local n, i = size, 0
  if allowed or record then n = size + cost end
  if record then
    i = math.max(0, n - p.limit)
    n = n - i
  end
  local retry, reset = 0, 0
  if not allowed then
    local nth = i + n + cost - p.limit - 1
    local t = at
    if nth < size then t = math.min(at, score(redis.call('ZRANGE', key, old + nth, old + nth, 'WITHSCORES'))) end
    retry = t + p.window - now
  end
  if n > 0 then reset = ((n > size - i) and at or math.min(at, last)) + p.window - now end

  local function taken()
    tidy(key, old, set)
    add(key, cost, at)
    if record then redis.call('ZREMRANGEBYRANK', key, 0, int(-p.limit - 1)) end
    redis.call('PEXPIRE', key, int(ttl(p, reset)))
  end
  local idle = nil
  if record and not allowed then
    idle = taken
  elseif set then
    idle = function()
      tidy(key, old, set)
      redis.call('PEXPIRE', key, int(ttl(p, reset)))
    end
  end
  return allowed, math.max(0, p.limit - n), retry, reset, taken, idle
end
