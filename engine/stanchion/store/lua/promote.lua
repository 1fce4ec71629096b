-- Make due jobs ready: each member is taken out of its set and pushed, or neither.
--
-- KEYS[1]  set            ZSET `schedule` or `retry`
-- KEYS[2]  queues         SET of queue names
-- KEYS[3]  dead           ZSET
-- KEYS[4…] per job: list, counters (for a member that is no job: dead, dead)
-- ARGV[1]  score of a member that is no job
-- ARGV[2…] per job: the exact member peeked, payload to push ('' = no job, bury it), queue name
-- Returns  how many left the set

local moved = 0
for i = 0, (#KEYS - 3) / 2 - 1 do
  local member, payload, queue = ARGV[2 + 3 * i], ARGV[3 + 3 * i], ARGV[4 + 3 * i]
  -- ZREM comes first: it is never refused by a full memory, and a second promoter finds nothing.
  if redis.call('ZREM', KEYS[1], member) == 1 then
    moved = moved + 1
    if payload == '' then
      redis.call('ZADD', KEYS[3], ARGV[1], member)
    else
      redis.call('LPUSH', KEYS[4 + 2 * i], payload)
      redis.call('SADD', KEYS[2], queue)
      redis.call('HINCRBY', KEYS[5 + 2 * i], 'eligible_enq', 1)
    end
  end
end
return moved
