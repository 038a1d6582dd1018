-- away: the page was hidden for good or closed. The place is kept; the turn passes to
-- the next until the ticket polls again.
--
-- ARGV  7 id
-- Returns {1} if the ticket was waiting, else {0}. Cost: O(log N).
load()
save()
if not redis.call('ZRANK', WAITING, ARGV[7]) then return { 0 } end
announce({ ARGV[7] })
redis.call('SET', ALIVE .. ARGV[7], int(now_ms - 1), 'XX', 'KEEPTTL')
return { 1 }
