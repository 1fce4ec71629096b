-- Return to their heads the leases a living child no longer knows of: a fail-over forgot that they ended.
--
-- KEYS[1]  trip           STRING of the incarnation
-- KEYS[2]  lease          HASH token -> `queue|fetched at ms|payload`
-- KEYS[3…] list           one per queue of the incarnation
-- ARGV[1]  number of the last trip the child saw answered: newer leases may still be on their way to it
-- ARGV[2]  number of queues, then their names in the order of the lists
-- ARGV[…]  the tokens the child holds
-- Returns  how many went back

local RECORD = '^([^|]*)|%d+|(.*)$'
local answered, queue_count = tonumber(ARGV[1]), tonumber(ARGV[2])

local record = redis.call('GET', KEYS[1])
if not record or record == 'dead' then
  return 0
end
local lists, held, returned = {}, {}, 0
for i = 1, queue_count do
  lists[ARGV[2 + i]] = KEYS[2 + i]
end
for i = 3 + queue_count, #ARGV do
  held[ARGV[i]] = true
end
for _, token in ipairs(redis.call('HKEYS', KEYS[2])) do
  if not held[token] and tonumber(string.match(token, '^%d+')) <= answered then
    local value = redis.call('HGET', KEYS[2], token)
    local queue, payload = string.match(value, RECORD)
    if lists[queue] then
      redis.call('HDEL', KEYS[2], token)
      local pushed = redis.pcall('RPUSH', lists[queue], payload)
      if type(pushed) == 'table' and pushed.err then
        -- A key of another type in the list's place: the lease stays until that is put right.
        redis.call('HSET', KEYS[2], token, value)
      else
        returned = returned + 1
      end
    end
  end
end
return returned
