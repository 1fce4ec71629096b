-- Give up a lease, so that another process leads at once.
--
-- KEYS[1]  leader         STRING identity, TTL
-- ARGV[1]  identity
-- Returns  1 given up, 0 it was not ours

if redis.pcall('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
