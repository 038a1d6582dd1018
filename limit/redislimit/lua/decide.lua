-- decide: all checks take their cost, or none does.
--
-- Returns four integers a check: 1 = allowed, remaining, microseconds until a retry,
-- microseconds until it is as new. Cost: the sum of the checks'.
local function params(a)
  local p = { limit = tonumber(ARGV[a + 1]), recovery = tonumber(ARGV[a + 3]) }
  local x, y, z = tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5]), tonumber(ARGV[a + 6])
  p.window, p.tick, p.record = x, y, z
  p.per_token, p.per_micro, p.capacity = x, y, z
  return p
end

local checks, out, granted, k = {}, {}, true, 1

local function say(n)
  if n > 2147483647 then n = int(n) end
  out[#out + 1] = n
end

for a = 3, #ARGV, 7 do
  local kind, p, cost = tonumber(ARGV[a]), params(a), tonumber(ARGV[a + 2])
  local keys = { KEYS[k] }
  if kind == 3 then keys[2] = KEYS[k + 1] end
  k = k + #keys
  local allowed, remaining, retry, reset, taken, idle = algorithms[kind](keys, p, cost)
  if LOOK then -- what is there before such a call
    local _
    _, remaining, _, reset = algorithms[kind](keys, p, 0)
  end
  granted = granted and allowed
  checks[#checks + 1] = { keys = keys, p = p, reset = reset, taken = taken, idle = idle }
  say(allowed and 1 or 0)
  say(remaining)
  say(retry)
  say(reset)
end

if not LOOK then
  for _, c in ipairs(checks) do
    if granted then
      c.taken()
    elseif c.idle then
      c.idle()
    else
      for _, key in ipairs(c.keys) do keep(key, c.p, c.reset) end
    end
  end
end
return out
