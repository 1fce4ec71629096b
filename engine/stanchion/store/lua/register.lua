-- Begin one life of one child: list it under its process, open its trip key, join its queues.
--
-- KEYS[1]  beats         HASH process identity -> counter
-- KEYS[2]  members       HASH incarnation -> its queues, of this process
-- KEYS[3]  trip          STRING of the incarnation
-- KEYS[4…] consumers     SET of incarnations, one per queue
-- ARGV[1]  identity, ARGV[2] incarnation, ARGV[3] its queues (JSON)
-- Returns  OK, or FENCED when the process was declared dead meanwhile

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 'FENCED'
end
redis.call('HDEL', KEYS[2], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
for i = 4, #KEYS do
  redis.call('SADD', KEYS[i], ARGV[2])
end
redis.call('SET', KEYS[3], '0|0|')
return 'OK'
