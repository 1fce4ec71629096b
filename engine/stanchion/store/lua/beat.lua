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
-- ARGV[1]  identity, ARGV[2] TTL in seconds
-- ARGV[3]  number of values that follow for the process hash
-- ARGV[4…] field, value, … of the process hash; then slot, JSON, … of the work hash
-- Returns  {OK, signal or '', epoch or '', paused queues}, or {FENCED}: this process was declared dead

local identity, ttl, fields = ARGV[1], ARGV[2], tonumber(ARGV[3])

-- Never create the counter again: a process that was recovered must start a new life.
if redis.call('HEXISTS', KEYS[1], identity) == 0 then
  return {'FENCED'}
end

redis.call('HDEL', KEYS[1], '-')
redis.call('HINCRBY', KEYS[1], identity, 1)
redis.call('SADD', KEYS[2], identity)
redis.call('HSET', KEYS[3], unpack(ARGV, 4, 3 + fields))
redis.call('EXPIRE', KEYS[3], ttl)
redis.call('DEL', KEYS[4], KEYS[5])
if #ARGV > 3 + fields then
  redis.call('HSET', KEYS[4], unpack(ARGV, 4 + fields))
  redis.call('EXPIRE', KEYS[4], ttl)
  redis.call('COPY', KEYS[4], KEYS[5])
end
return {
  'OK', redis.call('RPOP', KEYS[6]) or '', redis.call('GET', KEYS[8]) or '', redis.call('SMEMBERS', KEYS[7])}
