-- Takes back a turn that the company's ceiling refused. The member keeps his
-- headroom, has had his turn in this lap, and is not drawn again before the next
-- Replace.
--
-- KEYS  1 due   2 members   3 trail   4 the answer, if the request may be repeated
-- ARGV  1 staff   2 the turn as the answer and the trail have it
-- Returns 1, or 0 when somebody else has taken the turn back.

if KEYS[4] then
  if redis.call('GET', KEYS[4]) ~= ARGV[2] then return 0 end
  redis.call('DEL', KEYS[4])
end
redis.call('ZREM', KEYS[1], ARGV[1])
local seat = redis.call('HGET', KEYS[2], ARGV[1])
if seat then
  local headroom, counted, out, rest = string.match(seat, '^(%S+) (%S+) (%S+) (.*)$')
  out = math.max(0, out - 1)
  redis.call('HSET', KEYS[2], ARGV[1], string.format('%s %s %.0f %s', headroom, counted, out, rest))
end
local tail = ' ' .. ARGV[2]
for _, line in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
  if string.sub(line, -#tail) == tail then
    redis.call('LREM', KEYS[3], 1, line)
    break
  end
end
return 1
