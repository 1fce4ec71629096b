-- Enqueue the due ticks of one periodic job and move its mark, or do neither because another process did.
--
-- KEYS[1]  ticks          HASH entry -> its last tick that is done with
-- KEYS[2]  list           LIST of the queue
-- KEYS[3]  queues         SET of queue names
-- KEYS[4]  counters       HASH of the queue
-- ARGV[1]  entry, ARGV[2] the mark the caller saw ('' = none), ARGV[3] the new mark
-- ARGV[4]  queue name
-- ARGV[5…] payloads, the earliest first; none when a mark is only set
-- Returns  1 enqueued and marked, 0 the mark is another one

local FIRST = 5

if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then
  return 0
end
-- The push comes first: a full memory, or a key of another type, refuses it and all that follows.
for i = FIRST, #ARGV do
  redis.call('LPUSH', KEYS[2], ARGV[i])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
if #ARGV >= FIRST then
  redis.pcall('SADD', KEYS[3], ARGV[4])
  redis.pcall('HINCRBY', KEYS[4], 'enq', #ARGV - FIRST + 1)
  redis.pcall('HINCRBY', KEYS[4], 'eligible_enq', #ARGV - FIRST + 1)
end
return 1
