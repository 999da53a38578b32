-- Replaces a rotation set, keeping every member's turn and outstanding draws.
--
-- KEYS  1 meta (hash: version, round, lap, seats)   2 due (ZSET: who may be drawn)
--       3 members (hash: staff -> headroom, counted, outstanding, last draw, due lap)
-- ARGV  1 now in microseconds, 0 for the server's clock   2 the version seen, 0 none
--       3 round   4 draw grace in microseconds
--       5.. staff, headroom, counted of each seat in order
-- Returns 1 and the new version, or 0 and the version that is.

local SPAN = 65536 -- positions a lap
local meta = redis.call('HMGET', KEYS[1], 'version', 'round', 'lap')
local version = tonumber(meta[1] or 0)
if version ~= tonumber(ARGV[2]) then return {0, version} end
local now = tonumber(ARGV[1])
if now == 0 then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end
local function text(n) return string.format('%.0f', n) end

local lap = tonumber(meta[3] or 0)
local fresh = version ~= 0 and tonumber(ARGV[3]) > tonumber(meta[2])
if fresh then lap = lap + 1 end

local before = {}
local all = redis.call('HGETALL', KEYS[3])
for i = 1, #all, 2 do
  local h, c, o, d, l = string.match(all[i + 1], '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
  before[all[i]] = {headroom = tonumber(h), counted = tonumber(c), out = tonumber(o), drawn = tonumber(d), due = tonumber(l)}
end

redis.call('DEL', KEYS[2], KEYS[3])
local function keep(staff, m)
  redis.call('HSET', KEYS[3], staff, string.format('%.0f %.0f %.0f %.0f %.0f', m.headroom, m.counted, m.out, m.drawn, m.due))
end
local function forget(m) -- draws that never became additions
  if m.out > 0 and now - m.drawn >= tonumber(ARGV[4]) then m.out = 0 end
end

local seats = {} -- in order, for whoever compares the set with the facts
for i = 5, #ARGV, 3 do
  seats[#seats + 1] = ARGV[i]
  local staff, headroom, counted = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local m = before[staff] or {counted = counted, out = 0, drawn = 0, due = lap}
  m.out = math.max(0, m.out - math.max(0, counted - m.counted))
  m.headroom, m.counted = headroom, counted
  m.due = math.max(m.due, lap)
  if fresh then m.due = lap end
  forget(m)
  keep(staff, m)
  if headroom < 0 or headroom - m.out > 0 then
    redis.call('ZADD', KEYS[2], text(m.due * SPAN + (i - 5) / 3), staff)
  end
  before[staff] = nil
end
-- Those who left: what is outstanding, or drawn in this lap, still counts if
-- they come back.
for staff, m in pairs(before) do
  forget(m)
  if fresh then m.due = lap end
  if m.out > 0 or m.due > lap then keep(staff, m) end
end

version = math.max(version + 1, now)
redis.call('HSET', KEYS[1], 'version', text(version), 'round', ARGV[3], 'lap', text(lap), 'seats', table.concat(seats, '\n'))
return {1, version}
