-- Make due jobs ready: each member is taken out of its set and pushed, or neither.
--
-- KEYS[1]  set            ZSET `schedule` or `retry`
-- KEYS[2]  queues         SET of queue names
-- KEYS[3]  dead           ZSET
-- KEYS[4…] per job: list, counters (for a member that is no job: dead, dead)
-- ARGV[1]  the time now, epoch seconds: score of a member that is no job
-- ARGV[2…] per job: the exact member peeked, payload to push ('' = no job, bury it), queue name
-- Returns  how many left the set
--
-- A member that Redis refuses to push (a key of another type in the list's place) stays, due a minute later:
-- scripts do not roll back, and left at its time it would be looked at for ever, before all others.

local REFUSED_AGAIN_SECONDS = 60

local function refuses(reply)
  return type(reply) == 'table' and reply.err ~= nil
end

local moved = 0
for i = 0, (#KEYS - 3) / 2 - 1 do
  local member, payload, queue = ARGV[2 + 3 * i], ARGV[3 + 3 * i], ARGV[4 + 3 * i]
  -- ZREM comes first: it is never refused by a full memory, and a second promoter finds nothing.
  if redis.call('ZREM', KEYS[1], member) == 1 then
    local pushed
    if payload == '' then
      pushed = redis.pcall('ZADD', KEYS[3], ARGV[1], member)
    else
      pushed = redis.pcall('LPUSH', KEYS[4 + 2 * i], payload)
    end
    if refuses(pushed) then
      redis.call('ZADD', KEYS[1], ARGV[1] + REFUSED_AGAIN_SECONDS, member)
    else
      moved = moved + 1
      if payload ~= '' then
        -- pcall: the job is ready; a counter of another type must not keep the rest of the batch waiting.
        redis.pcall('SADD', KEYS[2], queue)
        redis.pcall('HINCRBY', KEYS[5 + 2 * i], 'eligible_enq', 1)
      end
    end
  end
end
return moved
