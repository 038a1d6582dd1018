-- sliding_counter: this window's count and the previous one's, weighted by how much of it
-- the sliding window still covers.
--
-- KEYS  two Strings "end in microseconds:count", the later one the current window; TTL
--       until a window after its end. Cost: O(1).

-- turn the windows over as far as the time has come. Returns the current one {at, level,
-- the key to write}, the previous {at, level}, the key of the latter, and whether the
-- clock was set back.
local function turn(keys, p)
  local at1, level1 = numbers(read('GET', keys[1]), '^(%d+):(%d+)$')
  local at2, level2 = numbers(read('GET', keys[2]), '^(%d+):(%d+)$')
  local one, two = { at1 or 0, level1 or 0 }, { at2 or 0, level2 or 0 }
  -- No parallel assignment: the Lua of miniredis gets a swap wrong.
  local new, new_key, old, old_key = one, keys[1], two, keys[2]
  if two[1] > one[1] then
    new = two
    new_key = keys[2]
    old = one
    old_key = keys[1]
  end
  local finish = window_end(p.window)
  if new[1] - now > 2 * p.window then -- the clock was set back, or the window was a longer one
    return { finish, math.min(new[2], p.limit) }, new_key, { 0, 0 }, old_key, true
  elseif new[1] > now then
    return new, new_key, old, old_key, false
  elseif new[1] > finish - 2 * p.window then
    return { finish, 0 }, old_key, new, new_key, false
  end
  return { finish, 0 }, old_key, { 0, 0 }, new_key, false
end

-- How much of this window is left when the cost fits, in microseconds.
local function fade_left(p, level, prev, window, cost)
  if level + cost <= p.limit then
    return math.floor((p.limit - level - cost) * window / prev) * p.tick
  end
  return math.min(window, math.floor((p.limit - cost) * window / level)) * p.tick - p.window
end

algorithms[3] = function(keys, p, cost)
  local cur, cur_key, prev, prev_key, set = turn(keys, p)
  if prev[1] <= cur[1] - 2 * p.window then prev = { 0, 0 } end
  local window = p.window / p.tick
  local left = ceil_div(cur[1] - math.max(now, cur[1] - p.window), p.tick)
  local level, before = math.min(cur[2], p.limit), math.min(prev[2], p.limit)
  local used, count, retry, reset = before * left + level * window, cur[2], 0, 0
  local allowed = used + cost * window <= p.limit * window
  if allowed then
    count, used = count + cost, used + cost * window
  else
    retry = cur[1] - now - fade_left(p, level, before, window, cost)
  end
  if count > 0 then
    reset = cur[1] + p.window - now
  elseif prev[2] > 0 then
    reset = cur[1] - now
  end
  local function write(n)
    return function()
      put(cur_key, p, int(cur[1]) .. ':' .. int(n), cur[1] + p.window - now)
      if prev[1] == 0 then redis.call('DEL', prev_key) end
    end
  end
  local remaining = math.max(0, math.floor((p.limit * window - used) / window))
  return allowed, remaining, retry, reset, write(count), set and write(cur[2])
end
