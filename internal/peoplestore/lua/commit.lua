-- commit: a session's data, unless the session was ended: a request that was under way when
-- somebody signed out must not bring it back.
--
-- KEYS 1 session: STRING; empty = it was ended a moment ago
-- ARGV 1 data  2 ms that are left of its life
-- Returns 1, or 0 = ended
-- Cost O(1)
if redis.call('GET', KEYS[1]) == '' then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
