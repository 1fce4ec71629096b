-- Take or keep a short lease: one process of all does the work that one is enough for.
--
-- KEYS[1]  leader         STRING identity, TTL
-- ARGV[1]  identity, ARGV[2] TTL in milliseconds
-- Returns  0 when this process leads, else the milliseconds the present leader's lease still has

local leader = redis.pcall('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
-- What has no TTL, or is no text, is no lease of ours: a hand put it there, and nobody would ever lead.
if type(leader) == 'string' and leader ~= ARGV[1] and left >= 0 then
  return math.max(1, left)
end
-- DEL first: a SET alone is refused when memory is full, and nobody would lead.
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 0
