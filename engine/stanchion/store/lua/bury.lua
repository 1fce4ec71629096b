-- Take entries out of a sorted set and put them into `dead` as they are.
--
-- KEYS[1]  set            ZSET `schedule` or `retry`
-- KEYS[2]  dead           ZSET
-- ARGV[1]  time of death, epoch seconds
-- ARGV[2]  oldest score kept in dead, ARGV[3] members kept in dead
-- ARGV[4…] the exact members that were looked at
-- Returns  a letter an entry: d done; g gone (its bytes are in the set no more); r refused by Redis, the entry
--          stays as it was

local FIRST_MEMBER = 4

local function refuses(reply)
  return type(reply) == 'table' and reply.err ~= nil
end

local function bury(member)
  local score = redis.call('ZSCORE', KEYS[1], member)
  if not score then
    return 'g'
  end
  -- ZREM is the first write: a full memory never refuses it, nor what follows it.
  redis.call('ZREM', KEYS[1], member)
  if refuses(redis.pcall('ZADD', KEYS[2], ARGV[1], member)) then
    redis.call('ZADD', KEYS[1], score, member)
    return 'r'
  end
  return 'd'
end

local letters = {}
for i = FIRST_MEMBER, #ARGV do
  letters[#letters + 1] = bury(ARGV[i])
end
letters = table.concat(letters)
if string.find(letters, 'd', 1, true) then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[2])
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -ARGV[3] - 1)
end
return letters
