-- leaky_meter: the water level, lowered when somebody asks.
--
-- KEY   String "microseconds:level in units:units of a call of cost 1"; TTL until it is
--       empty. Cost: O(1).
algorithms[5] = function(keys, p, cost)
  local key = keys[1]
  local at, level, per = numbers(read('GET', key), '^(%d+):(%d+):([1-9]%d*)$')
  if not at then at, level, per = now, 0, p.per_token end
  local counts, set = clock(p, at)
  if set then at = counts end
  local debt = drain(p, math.min(p.capacity, scale(p, level, per, math.ceil)), counts - at)
  local allowed, remaining, retry, reset, after = answer(p, debt, cost, counts - now)
  local function write(n, unit)
    return function() put(key, p, int(counts) .. ':' .. int(n) .. ':' .. int(unit), reset) end
  end
  return allowed, remaining, retry, reset, write(after, p.per_token), set and write(level, per)
end
