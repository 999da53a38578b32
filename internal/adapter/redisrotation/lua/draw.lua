-- Draws the next member of a rotation set, or repeats an answer.
--
-- KEYS  1 meta (hash: version, round, lap, back)   2 due (ZSET: who may be drawn)
--       3 members (hash: staff -> headroom, counted, outstanding, last draw, due lap, company)
--       4 trail (list of the last draws, newest first)
--       5 aside (ZSET: position and staff of who comes back to due, by the time when; the
--         first of these times is back in meta)   6 the answer to this request, if it may be repeated
-- ARGV  1 now in microseconds, 0 for the server's clock   2 length of the trail, 0 none
--       3 how long an answer may be repeated, in milliseconds
-- Returns status (0 drawn, 1 no set, 2 exhausted, 3 repeated), staff, round, lap, position,
-- then of the member's seat: counted, and what is said of the company's ceiling, '' for none;
-- then the set's version, 0 when the turn is of an earlier draw.

local SPAN = 65536 -- positions a lap
local SEAT = '^(%S+) (%S+) (%S+) %S+ (%S+) ?(.*)$'
local meta = redis.call('HMGET', KEYS[1], 'version', 'round', 'lap', 'back')
if not meta[1] then return {1} end
if KEYS[6] then
  local answer = redis.call('GET', KEYS[6])
  if answer then
    local round, lap, position, staff = string.match(answer, '^(%S+) (%S+) (%S+) (.+)$')
    local seat = redis.call('HGET', KEYS[3], staff) or '0 0 0 0 0'
    local _, counted, _, _, company = string.match(seat, SEAT)
    return {3, staff, tonumber(round), tonumber(lap), tonumber(position), tonumber(counted), company, 0}
  end
end
local now = ARGV[1]
if now == '0' then
  local t = redis.call('TIME')
  now = string.format('%.0f', t[1] * 1000000 + t[2])
end
if meta[4] and tonumber(meta[4]) <= tonumber(now) then
  for _, who in ipairs(redis.call('ZRANGEBYSCORE', KEYS[5], '-inf', now)) do
    local position, staff = string.match(who, '^(%S+) (.+)$')
    local _, _, _, due = string.match(redis.call('HGET', KEYS[3], staff), SEAT)
    local lap = math.max(tonumber(due), tonumber(meta[3]))
    redis.call('ZADD', KEYS[2], string.format('%.0f', lap * SPAN + position), staff)
    redis.call('ZREM', KEYS[5], who)
  end
  local next = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')
  if next[2] then
    redis.call('HSET', KEYS[1], 'back', next[2])
  else
    redis.call('HDEL', KEYS[1], 'back')
  end
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if not first[1] then return {2} end

local staff, score = first[1], tonumber(first[2])
local lap, position = math.floor(score / SPAN), score % SPAN
local headroom, counted, out, _, company = string.match(redis.call('HGET', KEYS[3], staff), SEAT)
out = tonumber(out) + 1
redis.call('HSET', KEYS[3], staff, string.format('%s %s %.0f %s %.0f %s', headroom, counted, out, now, lap + 1, company))
if tonumber(headroom) < 0 or headroom - out > 0 then
  redis.call('ZADD', KEYS[2], string.format('%.0f', score + SPAN), staff)
else
  redis.call('ZREM', KEYS[2], staff)
end
if lap ~= tonumber(meta[3]) then
  redis.call('HSET', KEYS[1], 'lap', string.format('%.0f', lap))
end

local turn = string.format('%s %.0f %.0f %s', meta[2], lap, position, staff)
if ARGV[2] ~= '0' then
  redis.call('LPUSH', KEYS[4], now .. ' ' .. turn)
  redis.call('LTRIM', KEYS[4], 0, ARGV[2] - 1)
end
if KEYS[6] then redis.call('SET', KEYS[6], turn, 'PX', ARGV[3]) end
return {0, staff, tonumber(meta[2]), lap, position, tonumber(counted), company, tonumber(meta[1])}
