-- Blocks a pair after the vendor said that it was called too often.
--
-- KEYS  1 the pair
-- ARGV  1 now, 0 for the server's clock     2 span of a first block
--       3 span of a repeated one            4 how long after a block it counts as repeated
--       5 common: interval  6 common: depth 7 reserve: interval  8 reserve: depth
--       9, 10, 11 the least values of c, r and blocked, as the caller knows them
-- Returns now, c, r and blocked. While a block lasts, further answers are those
-- of calls that were under way, and change nothing.

local now = tonumber(ARGV[1])
if now == 0 then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end
local state = redis.call('HMGET', KEYS[1], 'c', 'r', 'blocked')
local common = math.max(tonumber(state[1] or 0), tonumber(ARGV[9]))
local reserve = math.max(tonumber(state[2] or 0), tonumber(ARGV[10]))
local blocked = math.max(tonumber(state[3] or 0), tonumber(ARGV[11]))
if now >= blocked then
  local again = blocked > 0 and now - blocked <= tonumber(ARGV[4])
  blocked = now + tonumber(again and ARGV[3] or ARGV[2])
end
common = math.max(common, blocked + ARGV[6] - ARGV[5])
reserve = math.max(reserve, blocked + ARGV[8] - ARGV[7])
local function text(n) return string.format('%.0f', n) end
redis.call('HSET', KEYS[1], 'c', text(common), 'r', text(reserve), 'blocked', text(blocked))
redis.call('PEXPIRE', KEYS[1], text((math.max(common, reserve) - now + ARGV[4]) / 1000 + 900000))
return {now, common, reserve, blocked}
