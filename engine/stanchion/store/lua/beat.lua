-- One heartbeat of a process: move its counter, write the record Sidekiq's web page reads, hear news.
--
-- KEYS[1]  beats          HASH process identity -> counter
-- KEYS[2]  processes      SET of identities
-- KEYS[3]  process        HASH of this process, TTL
-- KEYS[4]  work           HASH slot -> running job, TTL
-- KEYS[5]  old work       the same, under its name in Sidekiq up to 6.4.1
-- KEYS[6]  signals        LIST of signal names from the web page
-- KEYS[7]  paused         SET of queue names
-- KEYS[8]  epoch          STRING, the configuration's
-- ARGV[1]  identity, ARGV[2] TTL in seconds, ARGV[3] '1' to write the old work as well
-- ARGV[4]  number of values that follow for the process hash
-- ARGV[5…] field, value, … of the process hash; then slot, JSON, … of the work hash
-- Returns  {OK, signal or '', epoch or '', paused queues}, or {FENCED}: this process was declared dead

local FIRST, PER_CALL = 5, 1000

local identity, ttl, fields = ARGV[1], ARGV[2], tonumber(ARGV[4])

-- Never create the counter again: a process that was recovered must start a new life.
if redis.call('HEXISTS', KEYS[1], identity) == 0 then
  return {'FENCED'}
end

-- Beside the counter nothing here may fail the beat: a key of a wrong type, put there by a stranger, would
-- otherwise stop the renewal of leases that follows it.
local function read(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then
    return false
  end
  return reply
end

-- In parts: Lua cannot unpack some thousand values at once.
local function write(key, first, last)
  for from = first, last, PER_CALL do
    redis.pcall('HSET', key, unpack(ARGV, from, math.min(from + PER_CALL - 1, last)))
  end
  redis.call('EXPIRE', key, ttl)
end

redis.call('HDEL', KEYS[1], '-')
redis.call('HINCRBY', KEYS[1], identity, 1)
redis.pcall('SADD', KEYS[2], identity)
write(KEYS[3], FIRST, FIRST + fields - 1)
redis.call('DEL', KEYS[4], KEYS[5])
write(KEYS[4], FIRST + fields, #ARGV)
if ARGV[3] == '1' then
  redis.call('COPY', KEYS[4], KEYS[5])
end
return {
  'OK', read('RPOP', KEYS[6]) or '', read('GET', KEYS[8]) or '', read('SMEMBERS', KEYS[7]) or {}}
