-- gcra: the theoretical arrival time (TAT), at which the key is as new.
--
-- KEY   String "TAT in microseconds:parts of one more:parts of a microsecond:units of a
--       call of cost 1"; the last two say what rate the time was reckoned by. TTL until
--       the TAT. Cost: O(1).

-- owed is the debt of another rate in the units of this one, at most all.
local function owed(p, ahead, parts, per_time, per_token)
  local tokens = (ahead * per_time + parts) / per_token
  if tokens >= p.limit then return p.capacity end
  return math.min(p.capacity, math.ceil(tokens * p.per_token))
end

algorithms[6] = function(keys, p, cost)
  local key, debt, set = keys[1], 0, false
  local tat, parts, per_time, per_token = numbers(read('GET', key), '^(%d+):(%d+):([1-9]%d*):([1-9]%d*)$')
  local ahead = (tat or 0) - now
  if tat and ahead >= 0 then
    if per_time ~= p.per_micro or per_token ~= p.per_token then
      debt, set = owed(p, ahead, parts, per_time, per_token), true
    elseif ahead > 2 * p.recovery then -- the clock was set back
      debt, set = p.capacity, true
    else
      debt = ahead * p.per_micro + parts
    end
  end
  local allowed, remaining, retry, reset, after = answer(p, debt, cost, 0)
  local function write(n)
    return function()
      local at = now + math.floor(n / p.per_micro)
      put(key, p, int(at) .. ':' .. int(n % p.per_micro) .. ':' .. int(p.per_micro) .. ':' .. int(p.per_token), reset)
    end
  end
  return allowed, remaining, retry, reset, write(after), set and write(debt)
end
