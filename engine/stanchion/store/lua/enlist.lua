-- Open the beat counter of a process that begins its life; the only script that creates one.
--
-- KEYS[1]  beats: HASH process identity -> counter
-- ARGV[1]  identity
-- Returns  1

-- A HDEL is never refused by a full memory, and what follows it in a script is not either.
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], 0)
return 1
