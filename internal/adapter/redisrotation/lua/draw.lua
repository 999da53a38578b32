-- Draws the next member of a rotation set.
--
-- KEYS  1 meta (hash: version, round, lap)   2 due (ZSET: who may be drawn)
--       3 members (hash: staff -> headroom, counted, outstanding, last draw, due lap)
-- ARGV  1 now in microseconds, 0 for the server's clock
-- Returns status (0 drawn, 1 no set, 2 exhausted), staff, round, lap, position.

local SPAN = 65536 -- positions a lap
local meta = redis.call('HMGET', KEYS[1], 'version', 'round', 'lap')
if not meta[1] then return {1} end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if not first[1] then return {2} end
local now = ARGV[1]
if now == '0' then
  local t = redis.call('TIME')
  now = string.format('%.0f', t[1] * 1000000 + t[2])
end

local staff, score = first[1], tonumber(first[2])
local lap, position = math.floor(score / SPAN), score % SPAN
local headroom, counted, out = string.match(redis.call('HGET', KEYS[3], staff), '^(%S+) (%S+) (%S+)')
out = tonumber(out) + 1
redis.call('HSET', KEYS[3], staff, string.format('%s %s %.0f %s %.0f', headroom, counted, out, now, lap + 1))
if tonumber(headroom) < 0 or headroom - out > 0 then
  redis.call('ZADD', KEYS[2], string.format('%.0f', score + SPAN), staff)
else
  redis.call('ZREM', KEYS[2], staff)
end
if lap ~= tonumber(meta[3]) then
  redis.call('HSET', KEYS[1], 'lap', string.format('%.0f', lap))
end
return {0, staff, tonumber(meta[2]), lap, position}
