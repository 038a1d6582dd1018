-- gate: whether the queue may send.
--
-- KEYS  1 gate
-- Returns {1 held or 0, 1 disabled or 0, ms that are left of a pause, reason}. Cost: O(1).
local held, disabled, paused, why = unpack(redis.call('HMGET', KEYS[1], 'held', 'disabled', 'paused', 'why'))
local left = math.max(tonumber(paused or 0) - now, 0)
local reason = disabled or held or (left > 0 and why) or ''
return {held and 1 or 0, disabled and 1 or 0, int(left), reason}
