-- Asks one pair of buckets for one call of one code.
--
-- KEYS  1 the pair (hash: c, r, blocked)   2 the code's slot
--       3 freed slots of the common bucket  4 freed slots of the reserve
-- ARGV  1 now, 0 for the server's clock     2 "1": the reserve is for this ask
--       3 how long a slot can be used       4 the horizon
--       5 common: interval  6 common: depth 7 reserve: interval  8 reserve: depth
--       9, 10, 11 the least values of c, r and blocked, as the caller knows them
-- Times are microseconds since 1970; they fit a double exactly.
-- Returns outcome (1 granted, 2 booked, 3 beyond the horizon), the slot's
-- instant, now, its bucket (0 common, 1 reserve), the pair's level in
-- thousandths before this ask, c, r, blocked, and 1 if the code came back from
-- a wait for the address.

local now = tonumber(ARGV[1])
if now == 0 then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end
local reserved = ARGV[2] == '1'
local usable, horizon = tonumber(ARGV[3]), tonumber(ARGV[4])
local state = redis.call('HMGET', KEYS[1], 'c', 'r', 'blocked')
local blocked = math.max(tonumber(state[3] or 0), tonumber(ARGV[11]))

local function text(n) return string.format('%.0f', n) end

local function bucket(name, stored, floor, every, depth, freed)
  local b = {name = name, every = tonumber(every), depth = tonumber(depth), freed = freed}
  b.tat = math.max(tonumber(stored or 0), tonumber(floor))
  if blocked > now then -- the block ends with an empty bucket: no stampede
    b.tat = math.max(b.tat, blocked + b.depth - b.every)
  end
  return b
end
local common = bucket('c', state[1], ARGV[9], ARGV[5], ARGV[6], KEYS[3])
local reserve = bucket('r', state[2], ARGV[10], ARGV[7], ARGV[8], KEYS[4])

local function missing(b) return math.max(0, b.tat - now) / b.every end
local calls = common.depth / common.every + reserve.depth / reserve.every
local level = math.floor(1000 * math.max(0, 1 - (missing(common) + missing(reserve)) / calls))
local returned = 0

local function answer(outcome, slot, b)
  return {outcome, slot, now, b == reserve and 1 or 0, level, common.tat, reserve.tat, blocked, returned}
end

-- offer is the earliest instant b has: by a charge, or a freed slot.
local function offer(b)
  local at = math.max(now, math.max(now, b.tat) + b.every - b.depth)
  if at > now then
    local freed = redis.call('ZRANGEBYSCORE', b.freed, text(math.max(now - usable, blocked)), '+inf', 'LIMIT', 0, 1)[1]
    local slot = freed and tonumber(string.match(freed, '^%d+'))
    if slot and slot < at then return {bucket = b, slot = slot, freed = freed} end
  end
  return {bucket = b, slot = at}
end

local function free(b, slot)
  redis.call('ZREMRANGEBYSCORE', b.freed, '-inf', '(' .. text(now - usable))
  redis.call('ZADD', b.freed, text(slot), text(slot) .. ':' .. KEYS[2])
  redis.call('PEXPIRE', b.freed, text(math.max(0, slot - now) / 1000 + 10000))
end

local function take(o)
  local b = o.bucket
  if o.freed then
    redis.call('ZREM', b.freed, o.freed)
  else
    b.tat = math.max(now, b.tat) + b.every
    redis.call('HSET', KEYS[1], 'c', text(common.tat), 'r', text(reserve.tat), 'blocked', text(blocked))
    local last = math.max(common.tat, reserve.tat, blocked)
    redis.call('PEXPIRE', KEYS[1], text((last - now) / 1000 + 900000))
  end
  if o.slot <= now then
    return answer(1, o.slot, b)
  end
  redis.call('SET', KEYS[2], b.name .. text(o.slot), 'PX', text((o.slot + usable - now) / 1000 + 1000))
  return answer(2, o.slot, b)
end

local kept = redis.call('GET', KEYS[2])
local kind, slot
if kept then
  kind, slot = string.sub(kept, 1, 1), tonumber(string.sub(kept, 2))
end
if kind == 'i' then -- waits for the address, not for us
  if now < slot and blocked <= now then
    return answer(2, slot, common)
  end
  returned, kind = 1, nil
elseif kind and (slot < blocked or now > slot + usable) then
  kind = nil -- lapsed
end
local own = kind == 'r' and reserve or common
if kind and slot <= now then
  redis.call('DEL', KEYS[2])
  return answer(1, slot, own)
end
if kind then
  if reserved and kind == 'c' then
    local better = offer(reserve)
    if better.slot < slot then
      redis.call('DEL', KEYS[2])
      free(common, slot)
      return take(better)
    end
  end
  return answer(2, slot, own)
end
if kept then
  redis.call('DEL', KEYS[2])
end

local best = offer(common)
if best.slot > now then
  if reserved then
    local other = offer(reserve)
    if other.slot < best.slot then best = other end
  elseif reserve.tat - now < reserve.depth / 2 then
    local other = offer(reserve)
    if other.slot <= now then best = other end
  end
end
if best.slot > now + horizon then
  return answer(3, best.slot, best.bucket)
end
return take(best)
