-- Frees the slot by which a call was just admitted and that it cannot use,
-- because the address refused.
--
-- KEYS  1 the code's slot   2 freed slots of the bucket it came from
-- ARGV  1 the slot          2 how long, in ms, a freed slot is kept
--       3 the address's instant, 0 for none   4 ms to keep the note of it
--       5 freed slots before this instant have lapsed

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[5])
redis.call('ZADD', KEYS[2], ARGV[1], ARGV[1] .. ':' .. KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
if ARGV[3] ~= '0' then
  redis.call('SET', KEYS[1], 'i' .. ARGV[3], 'PX', ARGV[4])
end
return 1
