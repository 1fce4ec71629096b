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
-- Returns  {returned, quarantined}, or {-1, 0}: not fenced

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

for i = 0, #KEYS - 5 do
  local at = 4 + 4 * i
  local token, jid, payload, quarantine = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  if redis.call('HDEL', KEYS[2], token) == 1 then
    if times(jid) > (limit or 0) then
      redis.call('ZADD', KEYS[4], ARGV[3], quarantine)
      redis.call('HDEL', KEYS[3], jid)
      quarantined = quarantined + 1
    else
      redis.call('RPUSH', KEYS[5 + i], payload)
      returned = returned + 1
    end
  end
end
return {returned, quarantined}
