-- Frees the slot a code has booked.
--
-- KEYS  1 the code's slot   2 freed slots, common   3 freed slots, reserve
-- ARGV  1 now, 0 for the server's clock   2 how long a slot can be used, in µs
-- Returns 0 nothing was booked, 1 freed, 2 the code waited for the address.

local kept = redis.call('GET', KEYS[1])
if not kept then
  return 0
end
redis.call('DEL', KEYS[1])
local kind, slot = string.sub(kept, 1, 1), string.sub(kept, 2)
if kind == 'i' then
  return 2
end
local now = tonumber(ARGV[1])
if now == 0 then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end
local freed = kind == 'r' and KEYS[3] or KEYS[2]
redis.call('ZREMRANGEBYSCORE', freed, '-inf', string.format('(%.0f', now - tonumber(ARGV[2])))
redis.call('ZADD', freed, slot, slot .. ':' .. KEYS[1])
redis.call('PEXPIRE', freed, string.format('%.0f', math.max(0, slot - now) / 1000 + 10000))
return 1
