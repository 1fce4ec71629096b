-- Give back what waits in a child's inboxes: its loop is stuck, or it has gone and a late move landed there.
--
-- KEYS     per queue: inbox, list
-- Returns  how many jobs went back to the heads of their queues, oldest foremost; what a list refuses (a key
--          of another type in its place) stays

local returned = 0
for i = 1, #KEYS, 2 do
  while type(redis.pcall('LMOVE', KEYS[i], KEYS[i + 1], 'LEFT', 'RIGHT')) == 'string' do
    returned = returned + 1
  end
end
return returned
