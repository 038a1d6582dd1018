-- away: the page was hidden for good or closed. The place is kept; the turn passes to
-- the next until the ticket polls again.
--
-- ARGV  7 id
-- Returns {1} if the ticket was waiting, else {0}. Cost: O(log N).
load()
local waits = redis.call('ZRANK', WAITING, ARGV[7])
if waits then turns[1] = ARGV[7] end
save()
if not waits then return { 0 } end
redis.call('SET', ALIVE .. ARGV[7], int(now_ms - 1), 'XX', 'KEEPTTL')
return { 1 }
