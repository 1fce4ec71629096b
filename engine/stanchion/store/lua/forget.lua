-- Strike an incarnation whose jobs have all been returned, and its process when it was the last.
--
-- KEYS[1]  beats          HASH process identity -> counter
-- KEYS[2]  members        HASH incarnation -> its queues, of the process
-- KEYS[3]  lease          HASH of the incarnation
-- KEYS[4]  processes      SET of identities
-- KEYS[5]  work           HASH slot -> running job, of the process
-- KEYS[6]  old work       the same, under its name in Sidekiq up to 6.4.1
-- KEYS[7…] per queue: consumers (SET of incarnations), inbox of the incarnation
-- ARGV[1]  identity, ARGV[2] incarnation or '' when the process has none
-- ARGV[3]  '1' to strike the process too, once it has no incarnation left
-- ARGV[4]  the counter the observer saw stand still, or ''
-- Returns  OK, or MORE while leases or inboxes hold a job, or ALIVE when the process beats again

if ARGV[4] ~= '' and redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[4] then
  return 'ALIVE'
end
if redis.call('HLEN', KEYS[3]) > 0 then
  return 'MORE'
end
for i = 8, #KEYS, 2 do
  if redis.call('LLEN', KEYS[i]) > 0 then
    return 'MORE'
  end
end
redis.call('HDEL', KEYS[2], ARGV[2])
for i = 7, #KEYS, 2 do
  redis.call('SREM', KEYS[i], ARGV[2])
end
if ARGV[3] == '1' and redis.call('HLEN', KEYS[2]) == 0 then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('SREM', KEYS[4], ARGV[1])
  redis.call('DEL', KEYS[5], KEYS[6])
end
return 'OK'
