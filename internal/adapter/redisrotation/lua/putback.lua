-- Takes back a turn that the company's ceiling refused. The member keeps his headroom, has
-- had his turn in this lap, and is put aside for a while.
--
-- KEYS  1 meta   2 due   3 members   4 trail   5 aside, as draw.lua has them
--       6 the answer, if the request may be repeated
-- ARGV  1 now in microseconds, 0 for the server's clock   2 staff   3 his position
--       4 the turn as the answer and the trail have it   5 the version of the set drawn from
--       6 for how many microseconds he is aside
-- Returns 1, or 0 when somebody else has taken the turn back.

if KEYS[6] then
  if redis.call('GET', KEYS[6]) ~= ARGV[4] then return 0 end
  redis.call('DEL', KEYS[6])
end
local seat = redis.call('HGET', KEYS[3], ARGV[2])
if seat then
  local headroom, counted, out, rest = string.match(seat, '^(%S+) (%S+) (%S+) (.*)$')
  out = math.max(0, out - 1)
  redis.call('HSET', KEYS[3], ARGV[2], string.format('%s %s %.0f %s', headroom, counted, out, rest))
end
local tail = ' ' .. ARGV[4]
for _, line in ipairs(redis.call('LRANGE', KEYS[4], 0, -1)) do
  if string.sub(line, -#tail) == tail then
    redis.call('LREM', KEYS[4], 1, line)
    break
  end
end

-- In another set he may have another place, or none.
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[5] then return 1 end
local now = tonumber(ARGV[1])
if now == 0 then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end
local back = string.format('%.0f', now + ARGV[6])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('ZADD', KEYS[5], back, ARGV[3] .. ' ' .. ARGV[2])
redis.call('HSETNX', KEYS[1], 'back', back)
return 1
