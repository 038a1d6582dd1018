-- Shared by every step of the line; each step's file is appended to this one.
--
-- KEYS  1 waiting  2 active  3 spent  4 room  5 pace  6 prefix of the alive keys
-- ARGV  1 now, microseconds; 0 = ask Redis TIME (a test may inject a clock)
--       2 1 = the caller has seen this room's memory before
--       3 the highest generation that the caller has seen, 0 = none
--       4 heartbeat, ms   5 keep_place, ms
--       6 settle, ms: how long admission waits while a forgotten line re-forms
-- Numbers are integers below 2^53; those above 2^31 travel as strings made by int().
local WAITING, ACTIVE, SPENT, ROOM, PACE, ALIVE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local HEARTBEAT, KEEP, SETTLE = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
-- Nobody was answered for longer than this while people waited: the silence was ours.
local SILENCE = math.max(HEARTBEAT, SETTLE)
local MAX_EXACT = 9007199254740991
-- Prefix of the marks of tickets whose place went to another device.
local MOVED = string.gsub(ALIVE, 'alive:$', 'moved:')
-- Prefix of when people went inside.
local SINCE = string.gsub(ALIVE, 'alive:$', 'since:')
-- Channel of what the line did; announce says how it is written.
local MOVES = string.gsub(ALIVE, 'alive:$', 'moves')
-- HASH bucket → how many had waited that long when they were let in.
local WAITS = string.gsub(ALIVE, 'alive:$', 'waits')
-- No rule brings a ticket back a day after it was issued, so a spent id need not be
-- remembered for longer than that.
local MAX_AGE = 86400000

-- States of a ticket, in the order of the Go constants.
local IS_WAITING, IS_ADMITTED, IS_ACTIVE, IS_EXPIRED, IS_FOREIGN, IS_LEFT, IS_MOVED = 1, 2, 3, 4, 5, 6, 7

local function int(n) return string.format('%.0f', n) end

local now = tonumber(ARGV[1])
if now == 0 then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000000 + tonumber(t[2])
end
local now_ms = math.floor(now / 1000)

-- room is what the hash remembers: gen, floor, made (µs), last place, restored (ms),
-- polled (ms), hold (ms), bound (0 or 1), popped, shifts. changed collects what has to be written back.
local room, changed = {}, {}

local function set(field, value)
  room[field] = value
  changed[field] = int(value)
end

-- What the line did in this step, for the servers that answer polls from memory. turns are
-- tickets to ask about exactly; shifts are places, with a sign, at which somebody came back
-- into the line or left it other than at its head.
local turns, shifts = {}, {}

local function shift(sign, place)
  set('shifts', room.shifts + 1)
  shifts[#shifts + 1] = sign .. int(place)
end

-- announce tells what the line did: how far it has moved, then shifts; then turns. A lost
-- message costs a visitor one exact poll.
local function announce()
  if not changed.popped and #shifts == 0 and #turns == 0 then return end
  redis.call('PUBLISH', MOVES, table.concat({ int(room.made), int(room.popped), int(room.shifts) }, ' ') .. ';' ..
    table.concat(shifts, ' ') .. ';' .. table.concat(turns, ' '))
  turns, shifts = {}, {}
end

local function save()
  announce()
  local args = {}
  for field, value in pairs(changed) do
    args[#args + 1] = field
    args[#args + 1] = value
  end
  if #args > 0 then redis.call('HSET', ROOM, unpack(args)) end
  changed = {}
end

-- hold_admission: the line is re-forming, so nobody is let in before everybody
-- who lives has had the time of one poll.
local function hold_admission()
  set('restored', now_ms)
  set('hold', now_ms + SETTLE)
end

local function load()
  local v = redis.call('HMGET', ROOM, 'gen', 'floor', 'made', 'last', 'restored', 'polled', 'hold', 'bound', 'popped', 'shifts')
  room.gen, room.floor, room.made, room.last = tonumber(v[1] or 0), tonumber(v[2] or 0), tonumber(v[3] or 0), tonumber(v[4] or 0)
  room.restored, room.polled, room.hold, room.bound = tonumber(v[5] or 0), tonumber(v[6] or 0), tonumber(v[7] or 0), tonumber(v[8] or 0)
  room.popped, room.shifts = tonumber(v[9] or 0), tonumber(v[10] or 0)
  -- A clock that went back must not hold the line for that long.
  if room.hold - now_ms > KEEP + SETTLE then set('hold', now_ms + SETTLE) end
  local seen = tonumber(ARGV[3])
  if room.gen == 0 then
    set('gen', math.max(1, seen))
    set('floor', room.gen)
    set('made', now)
    set('polled', now_ms)
    if ARGV[2] == '1' then hold_admission() end
  elseif seen > room.gen then
    -- A failover lost a reset that the caller had seen.
    set('gen', seen)
    set('floor', seen)
  end
end

-- answered notes that visitors are being served. A silence that was ours costs nobody
-- a place.
local function answered()
  if now_ms - room.polled > SILENCE and redis.call('ZCARD', WAITING) > 0 then
    hold_admission()
  end
  set('polled', now_ms)
end

-- of_this_line: is a signed ticket of this generation? A higher generation than
-- ours proves that our memory is older than the ticket.
local function of_this_line(gen, place)
  if gen == room.gen then return true end
  if gen > room.gen then
    set('gen', gen)
    if place >= room.made then set('floor', gen) end
    return true
  end
  return gen >= room.floor and place >= room.made
end

-- standing of an id, without its rank: state and, inside, the slot's end in ms.
local function inside(id)
  local expiry = redis.call('ZSCORE', ACTIVE, id)
  if not expiry or tonumber(expiry) <= now_ms then return nil end
  if redis.call('ZSCORE', SPENT, id) then return IS_ACTIVE, tonumber(expiry) end
  return IS_ADMITTED, tonumber(expiry)
end

-- spend: this id never gets in again. The entry outlives every rule by which a
-- ticket could come back to its place.
local function spend(id, from_ms)
  redis.call('ZADD', SPENT, int(from_ms + MAX_AGE), id)
end

-- may_return: a ticket that is in no set comes back to its place if its alive key
-- lives, if it is young, or if the room forgot it.
local function may_return(id, place)
  if redis.call('ZSCORE', SPENT, id) or redis.call('ZSCORE', ACTIVE, id) then return false end
  local place_ms = math.floor(place / 1000)
  if now_ms - place_ms >= MAX_AGE then return false end
  if place < room.made and room.restored < math.floor(room.made / 1000) then hold_admission() end
  if now_ms - place_ms < KEEP then return true end
  if room.restored > place_ms and now_ms - room.restored < KEEP then return true end
  return redis.call('EXISTS', ALIVE .. id) == 1
end

-- gone is what a ticket is told that is nowhere and may not return.
local function gone(id)
  if redis.call('EXISTS', MOVED .. id) == 1 then return IS_MOVED end
  return IS_EXPIRED
end

local function put(id, place)
  redis.call('ZADD', WAITING, int(place), id)
  if place > room.last then set('last', place) end
end

-- put_back is put for a ticket that comes back to its place among others.
local function put_back(id, place)
  put(id, place)
  shift('+', place)
end

-- take_out takes a ticket out of the line; false when it was not there.
local function take_out(id)
  local place = redis.call('ZSCORE', WAITING, id)
  if not place then return false end
  redis.call('ZREM', WAITING, id)
  shift('-', tonumber(place))
  turns[#turns + 1] = id
  return true
end

-- interval tells a ticket when to poll next: ARGV[a] shortest ms, ARGV[a+1] longest
-- ms, ARGV[a+2] microseconds for each person ahead.
local function interval(ahead, a)
  local ms = math.floor(ahead * tonumber(ARGV[a + 2]) / 1000)
  return math.max(tonumber(ARGV[a]), math.min(ms, tonumber(ARGV[a + 1])))
end

-- beat renews the alive key: its value is the ms until which the ticket counts as
-- present, never sooner than three poll intervals away; it lives for keep_place.
local function beat(id, poll_ms)
  local present = math.max(HEARTBEAT, 3 * poll_ms)
  -- Whole numbers of this size need no int(): Redis itself prints them exactly.
  redis.call('SET', ALIVE .. id, now_ms + present, 'PX', math.max(KEEP, present))
end

-- theoretical arrival time of the pace (GCRA). Time in which the line was not held
-- back by the pace earns nothing; while it was, a late tick may make up for at most
-- slack microseconds. A clock that went back cannot freeze it.
local function pace_time(interval_us, burst, slack)
  local tat = tonumber(redis.call('GET', PACE) or 0)
  tat = math.min(tat, now + interval_us * burst)
  if room.bound == 1 then return math.max(tat, now - slack) end
  return math.max(tat, now)
end

local function pace_allows(tat, interval_us, burst)
  return math.max(0, math.floor((now + interval_us * burst - tat) / interval_us))
end

local function pace_save(tat)
  local ttl = math.ceil((tat - now) / 1000) + 1000
  redis.call('SET', PACE, int(tat), 'PX', int(math.max(ttl, 1000)))
end

local function held() return math.max(0, room.hold - now_ms) end

local function set_bound(flag)
  if room.bound ~= flag then set('bound', flag) end
end

local function count(field, n)
  if n > 0 then redis.call('HINCRBY', ROOM, field, n) end
end
