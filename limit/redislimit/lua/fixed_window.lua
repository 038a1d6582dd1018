-- fixed_window: a counter of the window that ends at a multiple of its length.
--
-- KEY   String "end in microseconds:count"; TTL to that end. Cost: O(1).
algorithms[1] = function(keys, p, cost)
  local key, set = keys[1], false
  local at, level = numbers(read('GET', key), '^(%d+):(%d+)$')
  if not at or at <= now then
    at, level = window_end(p.window), 0
  elseif at - now > 2 * p.window then -- the clock was set back, or the window was a longer one
    at, level, set = window_end(p.window), math.min(level, p.limit), true
  end
  local left, before, retry, reset = at - now, level, 0, 0
  local allowed = level + cost <= p.limit
  if allowed then level = level + cost else retry = left end
  if level > 0 then reset = left end
  local function write(n)
    return function() put(key, p, int(at) .. ':' .. int(n), left) end
  end
  return allowed, math.max(0, p.limit - level), retry, reset, write(level), set and write(before)
end
