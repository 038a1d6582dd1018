-- beat: visitors were answered from a server's memory; their alive keys are renewed. A
-- ticket without an alive key gets none: where the line forgot it, an exact poll puts it back.
--
-- ARGV  7.. two a ticket: id, for how many ms from now it counts as present
-- Returns {when the room's memory was made, µs; popped and shifts since; ms held; generation}
-- Cost: O(1) a ticket; the caller bounds the batch.
load()
answered()
for i = 7, #ARGV, 2 do
  local present = tonumber(ARGV[i + 1])
  redis.call('SET', ALIVE .. ARGV[i], now_ms + present, 'XX', 'PX', math.max(KEEP, present))
end
save()
return { int(room.made), int(room.popped), int(room.shifts), held(), int(room.gen) }
