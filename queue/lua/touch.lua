-- touch: people inside show their pass. A pass that outlived the room's memory takes
-- its slot again, over capacity if it must: the visitor was let in.
--
-- ARGV  7.. six a pass: id, generation, when it ends (ms), how long from now its slot shall
--       last at least (ms; 0 = as it is), how long it may last in all (ms), since when the
--       pass says (ms; what Redis remembers counts more)
-- Returns two integers a pass: state, ms left inside; then the room's generation.
-- Cost: O(log N) a pass.
load()
local out = {}
for i = 7, #ARGV, 6 do
  local id, gen, ends = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local extend, most, said = tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5])
  local state, expiry
  -- A pass has no place of its own: it was issued before it ends, and it counts as
  -- older than this memory unless the slot is known.
  if of_this_line(gen, 0) or redis.call('ZSCORE', ACTIVE, id) then state, expiry = inside(id) end
  if state then
    if state == IS_ADMITTED then -- a failover lost the claim, the pass proves it
      expiry, state = math.max(expiry, ends), IS_ACTIVE
      redis.call('ZADD', ACTIVE, 'XX', int(expiry), id)
      spend(id, expiry)
    end
    if extend > 0 then
      local since = tonumber(redis.call('GET', SINCE .. id) or said)
      extend = math.min(extend, since + most - now_ms)
    end
    if extend > 0 and expiry < now_ms + extend then
      expiry = now_ms + extend
      redis.call('ZADD', ACTIVE, 'XX', int(expiry), id)
      spend(id, expiry)
    end
  elseif gen == room.gen and ends > now_ms and not redis.call('ZSCORE', SPENT, id) and not redis.call('ZSCORE', ACTIVE, id) then
    take_out(id)
    redis.call('UNLINK', ALIVE .. id)
    redis.call('ZADD', ACTIVE, int(ends), id)
    spend(id, ends)
    count('retaken', 1)
    redis.call('SET', SINCE .. id, int(said), 'PX', MAX_AGE)
    state, expiry = IS_ACTIVE, ends
  end
  out[#out + 1] = state or IS_EXPIRED
  out[#out + 1] = math.floor((expiry or now_ms) - now_ms)
end
save()
out[#out + 1] = int(room.gen)
return out
