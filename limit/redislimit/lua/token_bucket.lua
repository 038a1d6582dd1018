-- token_bucket: what is left, refilled when somebody asks.
--
-- KEY   Hash t = microseconds, n = units left, u = units of one token; TTL until it is
--       full again. Cost: O(1).
algorithms[4] = function(keys, p, cost)
  local key = keys[1]
  local v = read('HMGET', key, 't', 'n', 'u') or {}
  local at, level, per = numbers((v[1] or '') .. ':' .. (v[2] or '') .. ':' .. (v[3] or ''), '^(%d+):(%d+):([1-9]%d*)$')
  if not at then at, level, per = now, p.capacity, p.per_token end
  local counts, set = clock(p, at)
  if set then at = counts end
  local debt = p.capacity - math.min(p.capacity, scale(p, level, per, math.floor))
  debt = drain(p, debt, counts - at)
  local allowed, remaining, retry, reset, after = answer(p, debt, cost, counts - now)
  local function write(n, unit)
    return function()
      redis.call('HSET', key, 't', int(counts), 'n', int(n), 'u', int(unit))
      redis.call('PEXPIRE', key, int(ttl(p, reset)))
    end
  end
  return allowed, remaining, retry, reset, write(p.capacity - after, p.per_token), set and write(level, per)
end
