-- Replaces a rotation set, keeping every member's turn and outstanding draws.
--
-- KEYS  1 meta (hash: version, round, lap, seats)   2 due (ZSET: who may be drawn)
--       3 members (hash: staff -> headroom, counted, outstanding, last draw, due lap, company)
--       4 aside (who comes back to due later)
-- ARGV  1 now in microseconds, 0 for the server's clock   2 the version seen, 0 none
--       3 round   4 draw grace in microseconds
--       5.. staff, headroom, counted, company of each seat in order; company is what is
--           said of the company's ceiling, '' for none
-- Returns 1 and the new version, then the numbers (from 1) of the seats with a company's
-- ceiling whose members were drawn lately and have other counts now; or 0 and the version
-- that is.

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
  local h, c, o, d, l, company = string.match(all[i + 1], '^(%S+) (%S+) (%S+) (%S+) (%S+) ?(.*)$')
  before[all[i]] = {
    headroom = tonumber(h), counted = tonumber(c), out = tonumber(o), drawn = tonumber(d), due = tonumber(l), company = company,
  }
end

redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
local function keep(staff, m)
  local line = string.format('%.0f %.0f %.0f %.0f %.0f %s', m.headroom, m.counted, m.out, m.drawn, m.due, m.company or '')
  redis.call('HSET', KEYS[3], staff, line)
end
local function forget(m) -- draws that never became additions
  if m.out > 0 and now - m.drawn >= tonumber(ARGV[4]) then m.out = 0 end
end

local seats = {} -- in order, for whoever compares the set with the facts
local reply = {1, 0}
for i = 5, #ARGV, 4 do
  seats[#seats + 1] = ARGV[i]
  local staff, headroom, counted = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local m = before[staff] or {counted = counted, out = 0, drawn = 0, due = lap}
  local lately = m.out > 0 or now - m.drawn < tonumber(ARGV[4])
  if ARGV[i + 3] ~= '' and lately and (counted ~= m.counted or ARGV[i + 3] ~= m.company) then
    reply[#reply + 1] = (i - 1) / 4
  end
  m.out = math.max(0, m.out - math.max(0, counted - m.counted))
  m.headroom, m.counted, m.company = headroom, counted, ARGV[i + 3]
  m.due = math.max(m.due, lap)
  if fresh then m.due = lap end
  forget(m)
  keep(staff, m)
  if headroom < 0 or headroom - m.out > 0 then
    redis.call('ZADD', KEYS[2], text(m.due * SPAN + (i - 5) / 4), staff)
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
reply[2] = version
return reply
