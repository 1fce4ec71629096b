-- Take entries out of a sorted set and make them ready, each wholly or not at all.
--
-- KEYS[1]  set            ZSET `schedule`, `retry` or `dead`
-- KEYS[2]  queues         SET of queue names
-- KEYS[3…] per entry: list, counters of its queue
-- ARGV     per entry: the exact member that was looked at, payload to push, queue name
-- Returns  a letter an entry: d done; g gone (its bytes are in the set no more); r refused by Redis, the entry
--          stays as it was

local FIRST_KEY, KEYS_PER_ENTRY, ARGS_PER_ENTRY = 3, 2, 3

local function refuses(reply)
  return type(reply) == 'table' and reply.err ~= nil
end

local function requeue(member, payload, queue, list, counters)
  local score = redis.call('ZSCORE', KEYS[1], member)
  if not score then
    return 'g'
  end
  -- ZREM is the first write: a full memory never refuses it, nor what follows it.
  redis.call('ZREM', KEYS[1], member)
  if refuses(redis.pcall('LPUSH', list, payload)) then
    redis.call('ZADD', KEYS[1], score, member)
    return 'r'
  end
  -- pcall: the job is ready; a counter of another type must not make the caller believe that it is not.
  redis.pcall('SADD', KEYS[2], queue)
  redis.pcall('HINCRBY', counters, 'eligible_enq', 1)
  return 'd'
end

local letters = {}
for i = 0, #ARGV / ARGS_PER_ENTRY - 1 do
  local a, k = ARGS_PER_ENTRY * i, FIRST_KEY + KEYS_PER_ENTRY * i
  letters[i + 1] = requeue(ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], KEYS[k], KEYS[k + 1])
end
return table.concat(letters)
