-- Delete one config hash and its index entry if the caller owns them; bump and publish the epoch.
--
-- KEYS 1 the hash  2 index  3 epoch  4 fence
-- ARGV 1 index entry  2 channel  3 nonce for the new epoch  4 fence ("" = none)  5 managedBy
--      6 owner uid ("" = any of this managedBy, for a sweep)  7 "1" only answers
-- Returns {outcome, owner found or "", deletionPolicy found or ""}; outcome is deleted, absent,
--   conflict (not the caller's) or stale (a deposed leader).

local entry, channel, nonce, fence = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local managed_by, owner_uid, only_answer = ARGV[5], ARGV[6], ARGV[7] == '1'

local function field(name)
  return redis.call('HGET', KEYS[1], name) or ''
end

local stamp = redis.call('HGET', KEYS[2], entry)
local is_hash = redis.call('TYPE', KEYS[1]).ok == 'hash'
local owner, policy = '', ''
local outcome = 'deleted'
local known_fence = tonumber(redis.call('HGET', KEYS[4], managed_by) or nil)

if fence and known_fence and fence < known_fence then
  outcome = 'stale'
elseif is_hash then
  owner, policy = field('owner'), field('deletionPolicy')
  if field('managedBy') ~= managed_by or (owner_uid ~= '' and field('ownerUid') ~= owner_uid) then
    outcome = 'conflict'
  end
elseif not stamp then
  outcome = 'absent'
-- The hash was lost, its entry stands: only the entry still says whose it was.
elseif owner_uid == '' or string.match(stamp, '^%x*:(.*)$') ~= owner_uid then
  outcome = 'conflict'
end

local answer = {outcome, owner, policy}
if only_answer or outcome ~= 'deleted' then return answer end

redis.call('HDEL', KEYS[2], entry)
redis.call('DEL', KEYS[1])
if fence and (not known_fence or fence > known_fence) then
  redis.call('HSET', KEYS[4], managed_by, ARGV[4])
end
local count = tonumber(string.match(redis.call('GET', KEYS[3]) or '', '^%d+') or '0')
local epoch = string.format('%d-%s', count + 1, nonce)
redis.call('SET', KEYS[3], epoch)
redis.call('PUBLISH', channel, epoch)
return answer
