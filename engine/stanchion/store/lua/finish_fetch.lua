-- One trip of one child: record a batch of outcomes, count them, and lease the next jobs.
--
-- KEYS[1]  trip           STRING `number|jobs fetched|answers` of this incarnation, or `dead`
-- KEYS[2]  lease          HASH token -> `queue|fetched at ms|payload`
-- KEYS[3]  paused         SET of queue names
-- KEYS[4]  epoch          STRING, the configuration's
-- KEYS[5]  recoveries     HASH jid -> count
-- KEYS[6]  retry, KEYS[7] dead, KEYS[8] schedule: ZSETs
-- KEYS[9]  stat:processed KEYS[10] stat:failed       KEYS[11], KEYS[12] the same of this day
-- KEYS[13…] per queue: list, inbox, consumers; then the counter and runtime hashes outcomes name
-- ARGV[1]  number of this trip; a repeat sends the same number and the same bytes
-- ARGV[2]  epoch the caller knows, '' when it knows none, '-' to go without the check
-- ARGV[3]  slots free, at most 2000: Lua cannot unpack many more leases at once
-- ARGV[4]  queues, ARGV[5] outcomes
-- ARGV[6…] per queue: name, '1' if its policy pauses it
--          then per outcome: jid, payload, and in one text, parted by spaces: token, kind (retry, dead,
--          snooze: into that set; any other: nowhere), score, oldest score kept in dead, members kept in
--          dead, index of the counters key, index of the runtime key (0: none), bucket, milliseconds,
--          1 if it failed
-- Returns  {status, answers, jobs, paused queues, jobs left ready}
--          status   OK | REPEAT | STALE | FENCED | RECONFIG; the last three wrote nothing
--          answers  one letter an outcome: r recorded, l lease lost, e refused by Redis, lease kept
--          jobs     token, lease value, token, lease value, …

local FIRST_QUEUE_KEY, FIRST_QUEUE_ARG, OUTCOME_ARGS = 13, 6, 3
local SETS = {retry = KEYS[6], dead = KEYS[7], snooze = KEYS[8]}
local OUTCOME = '^' .. string.rep('(%S+) ', 9) .. '(%S+)$'
local DAY_STAT_TTL_SECONDS = 5 * 365 * 24 * 3600

local number, known_epoch, free = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local queue_count, outcome_count = tonumber(ARGV[4]), tonumber(ARGV[5])
local trip, lease = KEYS[1], KEYS[2]

-- 1. Is this call ours, new, and made under the present configuration?

local record = redis.call('GET', trip)
if not record or record == 'dead' then
  return {'FENCED', '', {}, {}, 0}
end
local last, fetched, answers = string.match(record, '^(%d+)|(%d+)|(%a*)$')
last, fetched = tonumber(last), tonumber(fetched)
if number < last then
  return {'STALE', '', {}, {}, 0}
end

local queues, paused_names = {}, {}
for i = 0, queue_count - 1 do
  local name = ARGV[FIRST_QUEUE_ARG + 2 * i]
  local paused = ARGV[FIRST_QUEUE_ARG + 2 * i + 1] == '1' or redis.call('SISMEMBER', KEYS[3], name) == 1
  if paused then
    paused_names[#paused_names + 1] = name
  end
  local key = FIRST_QUEUE_KEY + 3 * i
  queues[i + 1] = {
    name = name, paused = paused, list = KEYS[key], inbox = KEYS[key + 1], consumers = KEYS[key + 2]}
end

if number == last then
  local jobs = {}
  for i = 1, fetched do
    local token = number .. '.' .. i
    local value = redis.call('HGET', lease, token)
    if value then
      jobs[#jobs + 1] = token
      jobs[#jobs + 1] = value
    end
  end
  return {'REPEAT', answers, jobs, paused_names, 0}
end

local epoch = redis.call('GET', KEYS[4])
if epoch and known_epoch ~= '-' and epoch ~= known_epoch then
  return {'RECONFIG', '', {}, {}, 0}
end

for _, queue in ipairs(queues) do
  -- A list of another type counts as empty: one broken queue must not keep the others' outcomes out.
  local ready = redis.pcall('LLEN', queue.list)
  queue.ready = type(ready) == 'number' and ready or 0
  queue.waiting = redis.call('LLEN', queue.inbox)
  -- The list is shared out among the children that serve it; one job or none needs no sharing.
  local is_shared = free > 1 and queue.ready > 1
  queue.children = is_shared and math.max(1, redis.call('SCARD', queue.consumers)) or 1
end
local has_recoveries = outcome_count > 0 and redis.call('EXISTS', KEYS[5]) == 1

-- 2. Write. Memory limits never refuse a HDEL, nor what follows it: a full Redis still takes outcomes. The
-- first outcome begins with one; without outcomes this does.

if outcome_count == 0 then
  redis.call('HDEL', lease, '-')
end

-- Counters of another type are left alone (pcall): a figure may be missing, the outcome is recorded.
-- They are summed here first: a batch has many outcomes and few counters.
local sums, processed, failed = {}, 0, 0

local function add(key, field, amount)
  local fields = sums[key]
  if not fields then
    fields = {}
    sums[key] = fields
  end
  fields[field] = (fields[field] or 0) + amount
end

local function count(outcome)
  processed = processed + 1
  add(outcome.counters, 'done', 1)
  add(outcome.counters, 'busy_ms', outcome.ms)
  if outcome.failed then
    failed = failed + 1
    add(outcome.counters, 'failed', 1)
  end
  if outcome.runtime then
    add(outcome.runtime, 'n', 1)
    add(outcome.runtime, 'ms', outcome.ms)
    add(outcome.runtime, outcome.bucket, 1)
  end
end

local function write_counts()
  for key, fields in pairs(sums) do
    for field, amount in pairs(fields) do
      redis.pcall('HINCRBY', key, field, amount)
    end
  end
  for stat, amount in pairs({[9] = processed, [10] = failed}) do
    if amount > 0 then
      redis.pcall('INCRBY', KEYS[stat], amount)
      if redis.pcall('INCRBY', KEYS[stat + 2], amount) == amount then  -- the first of this day
        redis.call('EXPIRE', KEYS[stat + 2], DAY_STAT_TTL_SECONDS)
      end
    end
  end
end

-- Add to the set the kind names; false when Redis refuses (wrong type), which must not cost the job.
local function keep(outcome, set)
  local reply = redis.pcall('ZADD', set, outcome.score, outcome.payload)
  if type(reply) == 'table' and reply.err then
    return false
  end
  if outcome.kind == 'dead' then
    redis.call('ZREMRANGEBYSCORE', KEYS[7], '-inf', '(' .. outcome.oldest)
    redis.call('ZREMRANGEBYRANK', KEYS[7], 0, -outcome.most - 1)
  end
  return true
end

local function finish(outcome)
  local set = SETS[outcome.kind]
  -- The lease's value is needed only to put it back.
  local value = set and redis.call('HGET', lease, outcome.token)
  if redis.call('HDEL', lease, outcome.token) == 0 then
    return 'l'
  end
  if set and not keep(outcome, set) then
    redis.call('HSET', lease, outcome.token, value)
    return 'e'
  end
  if has_recoveries then
    redis.call('HDEL', KEYS[5], outcome.jid)
  end
  count(outcome)
  return 'r'
end

local function outcome_at(at)
  local one = {jid = ARGV[at], payload = ARGV[at + 1]}
  local counters, runtime, failed
  one.token, one.kind, one.score, one.oldest, one.most, counters, runtime, one.bucket, one.ms, failed =
    string.match(ARGV[at + 2], OUTCOME)
  one.counters, one.runtime, one.failed = KEYS[tonumber(counters)], KEYS[tonumber(runtime)], failed == '1'
  return one
end

local letters = {}
for i = 0, outcome_count - 1 do
  letters[i + 1] = finish(outcome_at(FIRST_QUEUE_ARG + 2 * queue_count + OUTCOME_ARGS * i))
end
write_counts()

-- 3. Lease the next jobs, in the caller's order of queues.

local jobs, taken, left = {}, 0, 0
local stamp

local function take(queue, payload)
  if not stamp then
    local time = redis.call('TIME')
    stamp = time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
  end
  free, taken = free - 1, taken + 1
  jobs[2 * taken - 1] = number .. '.' .. taken
  jobs[2 * taken] = queue.name .. '|' .. stamp .. '|' .. payload
end

for _, queue in ipairs(queues) do
  -- The inbox holds what a blocked wait moved for this child; what it cannot run goes back to the head,
  -- newest first, which also rings the next waiting child.
  while queue.waiting > 0 and not queue.paused and free > 0 do
    take(queue, redis.call('RPOP', queue.inbox))
    queue.waiting = queue.waiting - 1
  end
  -- pcall: what a broken list refuses stays in the inbox, and keeps no outcome from being recorded.
  for _ = 1, queue.waiting do
    redis.pcall('LMOVE', queue.inbox, queue.list, 'LEFT', 'RIGHT')
  end
  if not queue.paused then
    local share = math.min(free, math.ceil(queue.ready / queue.children))
    if share > 0 then
      for _, payload in ipairs(redis.call('RPOP', queue.list, share)) do
        take(queue, payload)
      end
    end
    left = left + queue.ready - share + queue.waiting
  end
end

if taken > 0 then
  redis.call('HSET', lease, unpack(jobs))
end
redis.call('SET', trip, number .. '|' .. taken .. '|' .. table.concat(letters))
return {'OK', table.concat(letters), jobs, paused_names, left}
