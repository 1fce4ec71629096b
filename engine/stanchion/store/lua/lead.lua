-- Take or keep the short lease of the process that promotes due jobs.
--
-- KEYS[1]  leader         STRING identity, TTL
-- ARGV[1]  identity, ARGV[2] TTL in milliseconds
-- Returns  1 leading, 0 somebody else does

local leader = redis.call('GET', KEYS[1])
if leader and leader ~= ARGV[1] then
  return 0
end
-- DEL first: a SET alone is refused when memory is full, and nobody would promote.
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
