-- Compare and set one config hash; bump and publish the epoch only if the config changed.
--
-- KEYS 1 the hash  2 index  3 epoch  4 fence
-- ARGV 1 index entry  2 index stamp  3 channel  4 nonce for the new epoch  5 fence ("" = none)
--      6 "1" takes over a foreign owner  7 "1" only answers  8… field, value, field, value, …
-- Returns {outcome, owner found or ""}; outcome is created, updated, repaired, unchanged, adopted,
--   stale (an older generation, or a deposed leader) or conflict (another owner's hash).

local FIRST_FIELD = 8
local entry, stamp, channel, nonce, fence = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local take_over, only_answer = ARGV[6] == '1', ARGV[7] == '1'

local function pairs_to_table(list, first)
  local fields = {}
  for i = first, #list, 2 do fields[list[i]] = list[i + 1] end
  return fields
end

local wanted = pairs_to_table(ARGV, FIRST_FIELD)
-- Another type under our name (SET by hand) is nothing of ours: it is replaced like a lost hash.
local is_hash = redis.call('TYPE', KEYS[1]).ok == 'hash'
local stored = is_hash and pairs_to_table(redis.call('HGETALL', KEYS[1]), 1) or {}
local stored_stamp = redis.call('HGET', KEYS[2], entry)
local known_fence = tonumber(redis.call('HGET', KEYS[4], wanted.managedBy) or nil)

-- The generation alone is no change: editing `workers` raises it without touching the gate's part.
local function differs()
  if stored_stamp ~= stamp or not tonumber(stored.generation) then return true end
  for field, value in pairs(wanted) do
    if field ~= 'generation' and stored[field] ~= value then return true end
  end
  for field in pairs(stored) do
    if wanted[field] == nil then return true end
  end
  return false
end

local function ownership()
  local same_uid = stored.ownerUid == wanted.ownerUid
  local same_name = stored.owner == wanted.owner
  local same_writer = stored.managedBy == wanted.managedBy
  if same_uid and same_writer then return 'ours' end
  -- A hand removed who owns it: whatever identity is left must be ours.
  local uid_fits = same_uid or not stored.ownerUid
  local name_fits = same_name or not stored.owner
  local writer_fits = same_writer or not stored.managedBy
  if uid_fits and name_fits and writer_fits then return 'ours' end
  if same_uid or (same_name and same_writer) or take_over then return 'adopted' end
  return 'conflict'
end

local function entry_is_ours()
  return stored_stamp and string.match(stored_stamp, '^%x*:(.*)$') == wanted.ownerUid
end

local function judge()
  if fence and known_fence and fence < known_fence then return 'stale' end
  if not is_hash then return entry_is_ours() and 'repaired' or 'created' end
  local owned = ownership()
  if owned ~= 'ours' then return owned end
  local generation = tonumber(stored.generation)
  if generation and generation > tonumber(wanted.generation) then return 'stale' end
  if not differs() then return 'unchanged' end
  if generation and generation < tonumber(wanted.generation) then return 'updated' end
  if stored_stamp == stamp or stored.digest == wanted.digest then return 'repaired' end
  return 'updated'
end

local outcome = judge()
local answer = {outcome, stored.owner or ''}
if only_answer or outcome == 'stale' or outcome == 'conflict' then return answer end

-- HDEL is never refused by a memory limit, and after a first write Redis refuses the script nothing.
redis.call('HDEL', KEYS[2], '')
if fence and (not known_fence or fence > known_fence) then
  redis.call('HSET', KEYS[4], wanted.managedBy, ARGV[5])
end
if outcome == 'unchanged' then
  if stored.generation ~= wanted.generation then
    redis.call('HSET', KEYS[1], 'generation', wanted.generation)
  end
  return answer
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], unpack(ARGV, FIRST_FIELD))
redis.call('HSET', KEYS[2], entry, stamp)
local count = tonumber(string.match(redis.call('GET', KEYS[3]) or '', '^%d+') or '0')
local epoch = string.format('%d-%s', count + 1, nonce)
redis.call('SET', KEYS[3], epoch)
redis.call('PUBLISH', channel, epoch)
return answer
