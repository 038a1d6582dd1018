-- poll: many tickets of one room ask where they stand; each asking renews its alive key.
--
-- ARGV  7 shortest poll, ms  8 longest poll, ms  9 µs of poll interval a person ahead
--       10.. three a ticket: id, place, generation
-- Returns four integers a ticket: state, ahead, ms left inside, poll ms; then when the
-- room's memory was made, how many were popped and how many shifts there were since, for
-- how many ms the line is held, and the room's generation. Ranks are those at the end.
-- Cost: O(log N) a ticket; the caller bounds the batch.
load()
answered()
local out, n = {}, 0
-- interval() reads these for each ticket.
for i = 7, 9 do ARGV[i] = tonumber(ARGV[i]) end

local function say(state, ahead, left, poll_ms)
  out[n + 1], out[n + 2], out[n + 3], out[n + 4] = state, ahead, left, poll_ms
  n = n + 4
end

local function wait(id, ahead)
  local poll_ms = interval(ahead, 7)
  beat(id, poll_ms)
  say(IS_WAITING, ahead, 0, poll_ms)
end

for i = 10, #ARGV, 3 do
  local id, place = ARGV[i], tonumber(ARGV[i + 1])
  if not of_this_line(tonumber(ARGV[i + 2]), place) then
    say(IS_FOREIGN, 0, 0, 0)
  else
    local ahead = redis.call('ZRANK', WAITING, id)
    if ahead then
      wait(id, ahead)
    else
      local state, expiry = inside(id)
      if state then
        say(state, 0, math.floor(expiry - now_ms), 0)
      elseif may_return(id, place) then
        put_back(id, place)
        wait(id, redis.call('ZRANK', WAITING, id))
      else
        say(gone(id), 0, 0, 0)
      end
    end
  end
end
-- Whoever came back in this call may have come before those who were answered already.
if #shifts > 0 then
  for i = 1, n, 4 do
    if out[i] == IS_WAITING then
      out[i + 1] = redis.call('ZRANK', WAITING, ARGV[10 + (i - 1) / 4 * 3])
    end
  end
end
save()
out[n + 1], out[n + 2], out[n + 3] = int(room.made), int(room.popped), int(room.shifts)
out[n + 4], out[n + 5] = held(), int(room.gen)
return out
