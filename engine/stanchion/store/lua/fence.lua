-- Declare one incarnation dead and give back its inboxes; its leases are returned after that.
--
-- KEYS[1]  beats          HASH process identity -> counter
-- KEYS[2]  trip           STRING of the incarnation
-- KEYS[3…] per queue: inbox, list
-- ARGV[1]  identity of its process
-- ARGV[2]  the counter the observer saw stand still, or '' when the parent saw the child end
-- ARGV[3]  seconds the fence stays
-- Returns  OK, or ALIVE when the counter has moved
--
-- An inbox whose list refuses it (a key of another type in its place) stays as it is, and must not keep the
-- leases from their queues: the incarnation is not struck while it holds anything.

if ARGV[2] ~= '' and redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 'ALIVE'
end
redis.call('HDEL', KEYS[1], '-')
-- The fence comes first: from here on no trip of that incarnation takes or records anything.
redis.call('SET', KEYS[2], 'dead', 'EX', ARGV[3])
for i = 3, #KEYS, 2 do
  while type(redis.pcall('LMOVE', KEYS[i], KEYS[i + 1], 'LEFT', 'RIGHT')) == 'string' do end
end
return 'OK'
