-- Enqueue one job or a chunk of jobs, recorded once per call.
--
-- A lane is a nonce and a counter with one call in flight. Its last call is kept with its answers, so a call
-- sent again after a lost reply is answered and not repeated.
--
-- KEYS: 1 lane, 2 config epoch, 3 queues, 4 schedule; then per job: its list, its queue's counters,
--       what is remembered of its jid
-- ARGV: 1 number of the call, 2 epoch the caller knows, 3 seconds to keep the lane, 4 seconds to remember
--       an explicit jid; then per job: jid, payload, due time ('' = now), queue name, '1' if jid is explicit
-- Returns {'DONE', answers joined by ','} | {'RECONFIG', epoch} | {'STALE', last number} | {'CLASH'}
--       answer: enqueued | scheduled | known:<first answer> | failed:<why>
-- Repeat: the stored answers. RECONFIG, STALE, CLASH and an error write nothing.
-- The push is the first write, so that a full Redis refuses the call whole; the lane is the last.

local KEYS_BEFORE, KEYS_PER_JOB = 4, 3
local ARGS_BEFORE, ARGS_PER_JOB = 4, 5

local lane = KEYS[1]
local number = tonumber(ARGV[1])
local first_jid = ARGV[ARGS_BEFORE + 1]

local record = redis.call('GET', lane)
if record then
  local last, jid, answers = string.match(record, '^(%d+)|([^|]*)|(.*)$')
  last = tonumber(last)
  if last == nil or (last == number and jid ~= first_jid) then
    return {'CLASH'}
  end
  if last == number then
    return {'DONE', answers}
  end
  if last > number then
    return {'STALE', last}
  end
end

local epoch = redis.call('GET', KEYS[2])
if epoch and epoch ~= ARGV[2] then
  return {'RECONFIG', epoch}
end

local count = (#ARGV - ARGS_BEFORE) / ARGS_PER_JOB
local remembered = {}
for i = 0, count - 1 do
  if ARGV[ARGS_BEFORE + i * ARGS_PER_JOB + 5] == '1' then
    local memory = KEYS[KEYS_BEFORE + i * KEYS_PER_JOB + 3]
    remembered[memory] = redis.call('GET', memory)
  end
end

local answers = {}
local is_written = false
-- Summed before they are written: a chunk has many jobs and few queues.
local enqueued, eligible, queues = {}, {}, {}
for i = 0, count - 1 do
  local k, a = KEYS_BEFORE + i * KEYS_PER_JOB, ARGS_BEFORE + i * ARGS_PER_JOB
  local list, counters, memory = KEYS[k + 1], KEYS[k + 2], KEYS[k + 3]
  local payload, due, queue, is_explicit = ARGV[a + 2], ARGV[a + 3], ARGV[a + 4], ARGV[a + 5] == '1'
  local answer
  if is_explicit and remembered[memory] then
    answer = 'known:' .. remembered[memory]
  else
    local pushed
    if due == '' then
      pushed = redis.pcall('LPUSH', list, payload)
    else
      pushed = redis.pcall('ZADD', KEYS[4], due, payload)
    end
    if type(pushed) == 'table' and pushed.err then
      if not is_written then
        return pushed
      end
      answer = 'failed:' .. string.gsub(pushed.err, '[,|]', ' ')
    else
      is_written = true
      enqueued[counters] = (enqueued[counters] or 0) + 1
      if due == '' then
        eligible[counters] = (eligible[counters] or 0) + 1
        queues[queue] = true
        answer = 'enqueued'
      else
        answer = 'scheduled'
      end
      if is_explicit then
        redis.call('SET', memory, answer, 'EX', ARGV[4])
        remembered[memory] = answer
      end
    end
  end
  answers[i + 1] = answer
end

-- pcall: the jobs are in, so a key of another type must not make the caller believe that they are not.
for counters, amount in pairs(enqueued) do
  redis.pcall('HINCRBY', counters, 'enq', amount)
end
for counters, amount in pairs(eligible) do
  redis.pcall('HINCRBY', counters, 'eligible_enq', amount)
end
for queue in pairs(queues) do
  redis.pcall('SADD', KEYS[3], queue)
end

local joined = table.concat(answers, ',')
redis.call('SET', lane, ARGV[1] .. '|' .. first_jid .. '|' .. joined, 'EX', ARGV[3])
return {'DONE', joined}
