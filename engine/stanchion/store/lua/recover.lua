-- Return leased jobs of a fenced incarnation to the heads of their queues, or quarantine them in `dead`.
--
-- KEYS[1]  trip           STRING of the incarnation: must say `dead`
-- KEYS[2]  lease          HASH token -> `queue|fetched at ms|payload`
-- KEYS[3]  recoveries     HASH jid -> how often it came back
-- KEYS[4]  dead           ZSET
-- KEYS[5…] list           one per job, in the order of the jobs
-- ARGV[1]  returns allowed before quarantine, or '' when this return does not count (a planned stop)
-- ARGV[2]  seconds the recovery counts are kept
-- ARGV[3]  score of a quarantined job
-- ARGV[4…] per job, newest first: token, jid, payload, payload for `dead`
-- Returns  {returned, quarantined}, or {-1, 0}: not fenced; an error if a job has nowhere to go: it stays leased
--
-- A job whose list refuses it (a key of another type in its place) goes to `dead` as it is.

if redis.call('GET', KEYS[1]) ~= 'dead' then
  return {-1, 0}
end
local limit, returned, quarantined = tonumber(ARGV[1]), 0, 0
redis.call('HDEL', KEYS[2], '-')

local function times(jid)
  if not limit then
    return 0
  end
  local count = redis.call('HINCRBY', KEYS[3], jid, 1)
  redis.call('EXPIRE', KEYS[3], ARGV[2])
  return count
end

local function refuses(reply)
  return type(reply) == 'table' and reply.err ~= nil
end

for i = 0, #KEYS - 5 do
  local at = 4 + 4 * i
  local token, jid, payload, quarantine = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local value = redis.call('HGET', KEYS[2], token)
  if value then
    redis.call('HDEL', KEYS[2], token)
    local buried = times(jid) > (limit or 0) and quarantine
    if not buried and refuses(redis.pcall('RPUSH', KEYS[5 + i], payload)) then
      buried = payload
    end
    if buried then
      local reply = redis.pcall('ZADD', KEYS[4], ARGV[3], buried)
      if refuses(reply) then
        redis.call('HSET', KEYS[2], token, value)
        return reply
      end
      redis.call('HDEL', KEYS[3], jid)
      quarantined = quarantined + 1
    else
      returned = returned + 1
    end
  end
end
return {returned, quarantined}
