-- confirm: a revived job stands in the bucket.
--
-- KEYS  1 job
-- Returns 1, or 0 if it was begun meanwhile or is not known. Cost: O(1).
if redis.call('HGET', KEYS[1], 'state') ~= 'reviving' then return 0 end
redis.call('HSET', KEYS[1], 'state', 'queued')
redis.call('HDEL', KEYS[1], 'due')
return 1
