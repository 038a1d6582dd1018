-- reset: a new generation. Every ticket and pass of the old one is foreign from here on.
--
-- ARGV  7 the generation that the caller saw; another one answers without a reset, so
--         that a repeated call resets once
-- Returns {the generation now in force}. Cost: O(1); the sets are freed in the background.
load()
if tonumber(ARGV[7]) == room.gen then
  set('gen', room.gen + 1)
  set('floor', room.gen)
  set('hold', 0)
  set('bound', 0)
  redis.call('UNLINK', WAITING, ACTIVE, SPENT, PACE)
end
save()
return { int(room.gen) }
