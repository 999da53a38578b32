-- Tells a staff member's ledger what a code's facts have counted, and takes one
-- of what the company's daily total leaves him if that is asked for.
--
-- KEYS  1 ledger (hash: counted, until; and of each code 'code:' .. its ID -> counted, outstanding, last draw)
--       2 the proof that this request has taken one, if it may be repeated
-- ARGV  1 now in microseconds, 0 for the server's clock   2 draw grace in microseconds
--       3 the code   4 additions on it, ever
--       5 the daily total   6 additions of the day over all codes
--       7 the Unix second at which that day ends   8 how many to take, 0 or 1
--       9 how long the proof is kept, in milliseconds
-- Returns 1 when nothing more was asked for or it is granted, 0 when it is refused.

local KEPT = 2 * 86400 -- seconds; a ledger that nobody asks says nothing any more long before
if KEYS[2] and redis.call('EXISTS', KEYS[2]) == 1 then return 1 end
local now = tonumber(ARGV[1])
if now == 0 then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end
local function text(n) return string.format('%.0f', n) end

local mine, before = 'code:' .. ARGV[3], {}
local counted, day, out, found = 0, 0, 0, false
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if all[i] == 'counted' then counted = tonumber(all[i + 1])
  elseif all[i] == 'until' then day = tonumber(all[i + 1])
  else
    local c, o, d = string.match(all[i + 1], '^(%S+) (%S+) (%S+)$')
    c, o, d = tonumber(c), tonumber(o), tonumber(d)
    if now - d >= tonumber(ARGV[2]) then -- draws that never became additions
      redis.call('HDEL', KEYS[1], all[i])
    elseif all[i] == mine then
      before = {counted = c, out = o, drawn = d}
    else
      out = out + o
    end
  end
end

if day * 1000000 <= now then counted = 0 end -- of a day that is over
local ends = tonumber(ARGV[7])
if ends * 1000000 > now then
  counted, day = math.max(counted, tonumber(ARGV[6])), ends
end
local grown = math.max(0, ARGV[4] - (before.counted or ARGV[4]))
local own = {
  counted = math.max(tonumber(ARGV[4]), before.counted or 0),
  out = math.max(0, (before.out or 0) - grown), drawn = before.drawn,
}

local granted = 1
if ARGV[8] == '1' then
  if ARGV[5] - counted - out - own.out > 0 then
    own.out, own.drawn = own.out + 1, now
    if KEYS[2] then redis.call('SET', KEYS[2], '', 'PX', ARGV[9]) end
  else
    granted = 0
  end
end
redis.call('HSET', KEYS[1], 'counted', text(counted), 'until', text(day))
if own.drawn then
  redis.call('HSET', KEYS[1], mine, string.format('%.0f %.0f %.0f', own.counted, own.out, own.drawn))
end
redis.call('EXPIRE', KEYS[1], KEPT)
return granted
