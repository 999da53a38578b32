-- Asks one pair of buckets for a call that nobody waits for.
--
-- KEYS  1 the pair (hash: c, r, blocked)    2 the pace of such calls
-- ARGV  1 now, 0 for the server's clock     2 "1": charge the common bucket
--       3 pace: interval                    4 pace: depth
--       5 common: interval                  6 common: depth
--       7, 8, 9 the least values of c, r and blocked, as the caller knows them
-- Times are microseconds since 1970. Returns 1 if the call may be made, else 0,
-- then now, c, r and blocked. A call goes only while the common bucket is half
-- full or fuller: nothing is booked ahead then, and half of a burst is left. The
-- reserve needs no look, as it is used when the common bucket is empty.

local now = tonumber(ARGV[1])
if now == 0 then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end
local charge = ARGV[2] == '1'
local state = redis.call('HMGET', KEYS[1], 'c', 'r', 'blocked')
local common = math.max(tonumber(state[1] or 0), tonumber(ARGV[7]))
local reserve = math.max(tonumber(state[2] or 0), tonumber(ARGV[8]))
local blocked = math.max(tonumber(state[3] or 0), tonumber(ARGV[9]))
local function text(n) return string.format('%.0f', n) end
local function answer(may) return {may, now, common, reserve, blocked} end

local every, depth = tonumber(ARGV[5]), tonumber(ARGV[6])
if blocked > now or common - now > depth / 2 then
  return answer(0)
end
local taken = math.max(now, common) + every
if charge and taken - depth > now then -- a bucket of one call has no half
  return answer(0)
end
local pace = math.max(now, tonumber(redis.call('GET', KEYS[2]) or 0)) + ARGV[3]
if pace - ARGV[4] > now then
  return answer(0)
end
redis.call('SET', KEYS[2], text(pace), 'PX', text((pace - now) / 1000 + 1000))
if charge then
  common = taken
  redis.call('HSET', KEYS[1], 'c', text(common), 'r', text(reserve), 'blocked', text(blocked))
  redis.call('PEXPIRE', KEYS[1], text((math.max(common, reserve, blocked) - now) / 1000 + 900000))
end
return answer(1)
